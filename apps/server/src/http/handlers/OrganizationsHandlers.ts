/** Serves organizations and the owner's view of their invoices. */
import { AccountAuthorization, Api, Problems } from "@govoice/api"
import { Clock, Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Cursors } from "../../crypto/Cursors.ts"
import * as Page from "../../database/Page.ts"
import { isoOrNull } from "../../database/timestamps.ts"
import { Invoices } from "../../invoices/Invoices.ts"
import {
  checkGatewayCredential,
  type InvalidCredential,
  type KeyFileOwner,
  maxKeysPerAccount
} from "../../invoices/ksef/checkGatewayCredential.ts"
import { GatewayCredentials } from "../../invoices/ksef/GatewayCredentials.ts"
import * as OfflineCertificates from "../../invoices/ksef/OfflineCertificates.ts"
import { Organizations } from "../../accounts/Organizations.ts"
import { Notices } from "../../mail/Notices.ts"
import { Notifier } from "../../jobs/Notifier.ts"
import { LiveStatus } from "../../invoices/ksef/LiveStatus.ts"
import { InvoiceStats } from "../../invoices/InvoiceStats.ts"
import type { NoSlot } from "../../limits/Slots.ts"
import { Settings } from "../../settings/Settings.ts"
import { DeliveryStats, windows } from "../../deliveries/DeliveryStats.ts"
import { StatisticsLimits } from "../middleware/StatisticsLimits.ts"
import * as Throttling from "../middleware/Throttling.ts"
import * as ClientAddress from "../transport/ClientAddress.ts"
import * as InvoiceFilters from "./InvoiceFilters.ts"
import * as InvoicePages from "./InvoicePages.ts"
import * as InvoiceReads from "./InvoiceReads.ts"
import * as Pagination from "./Pagination.ts"

// How long a caller waits that found the queue for private keys full. Opening an encrypted one takes up to a second.
const keyFilesRetryAfterMs = 5000
const privateKeys = { name: "private-keys", quota: maxKeysPerAccount, unit: "concurrent-requests" } as const

const notFound = () => Problems.fail("organization_not_found")
const invoiceNotFound = () => Problems.fail("invoice_not_found", { message: "No such invoice in this organization." })

const ownerOf = (account: string, request: HttpServerRequest.HttpServerRequest): KeyFileOwner => ({
  account,
  network: ClientAddress.groupOf(request)
})

const answerFaults = <A>(checked: Effect.Effect<A, InvalidCredential | NoSlot>) =>
  Effect.catchTags(checked, {
    InvalidCredential: ({ message, param }) => Problems.fail("invalid_parameter", { message, param }),
    NoSlot: ({ hasWaited }) =>
      hasWaited ? Throttling.failWithoutTurn : Throttling.fail({ limit: privateKeys, waitMs: keyFilesRetryAfterMs })
  })

/** Layer that implements the `organizations` group. */
export const layer = HttpApiBuilder.group(
  Api,
  "organizations",
  Effect.fnUntraced(function* (handlers) {
    const credentials = yield* GatewayCredentials
    const cursors = yield* Cursors
    const invoices = yield* Invoices
    const deliveryStats = yield* DeliveryStats
    const { organizationConcurrency } = yield* Settings
    const invoiceStats = yield* InvoiceStats
    const limits = yield* StatisticsLimits
    const liveStatus = yield* LiveStatus
    const notices = yield* Notices
    const notifier = yield* Notifier
    const offlineCertificates = yield* OfflineCertificates.OfflineCertificates
    const organizations = yield* Organizations
    const reads = yield* InvoiceReads.make(invoiceNotFound)

    const findOrganization = Effect.fnUntraced(function* (id: string) {
      return yield* organizations
        .find(yield* AccountAuthorization.CurrentAccount, id)
        .pipe(Effect.catchTag("OrganizationNotFound", notFound))
    })

    const findOwner = Effect.fnUntraced(function* (id: string) {
      const accountId = yield* AccountAuthorization.CurrentAccount
      return { accountId, organizationId: (yield* findOrganization(id)).id }
    })

    return handlers.handleAll({
      create: Effect.fnUntraced(function* ({ payload }) {
        return yield* organizations.create(yield* AccountAuthorization.CurrentAccount, payload.name).pipe(
          Effect.catchTag("TooManyOrganizations", () =>
            Problems.fail("limit_reached", {
              message: "The account has the maximum number of organizations. Use one of them."
            })
          )
        )
      }),

      list: Effect.fnUntraced(function* ({ query }) {
        const accountId = yield* AccountAuthorization.CurrentAccount
        return yield* Pagination.serve(cursors, ["organizations", accountId], query, (page) =>
          organizations.list(accountId, page)
        )
      }),

      get: Effect.fnUntraced(function* ({ params }) {
        return yield* findOrganization(params.org_id)
      }),

      update: Effect.fnUntraced(function* ({ params, payload }) {
        return yield* organizations
          .rename(yield* AccountAuthorization.CurrentAccount, params.org_id, payload.name)
          .pipe(Effect.catchTag("OrganizationNotFound", notFound))
      }),

      putGatewayCredential: Effect.fnUntraced(function* ({ params, payload, request }) {
        const accountId = yield* AccountAuthorization.CurrentAccount
        const now = yield* Clock.currentTimeMillis
        const checked = yield* answerFaults(checkGatewayCredential(payload, ownerOf(accountId, request), now))
        yield* credentials.put(accountId, params.org_id, checked).pipe(
          Effect.catchTags({
            OrganizationNotFound: notFound,
            ServedByOtherCell: (error) =>
              Problems.fail("invalid_parameter", {
                param: "context",
                message: `context: ${error.remedy(params.org_id)}.`
              }),
            ControlCellUnavailable: ({ message }) =>
              Problems.fail("service_unavailable", { message: `${message} Send the request again later.` })
          })
        )
        yield* notifier.wake("lanes")
      }),

      getGatewayCredential: Effect.fnUntraced(function* ({ params }) {
        return yield* credentials
          .describe(yield* AccountAuthorization.CurrentAccount, params.org_id)
          .pipe(Effect.catchTag("OrganizationNotFound", notFound))
      }),

      deleteGatewayCredential: Effect.fnUntraced(function* ({ params }) {
        yield* credentials
          .remove(yield* AccountAuthorization.CurrentAccount, params.org_id)
          .pipe(Effect.catchTag("OrganizationNotFound", notFound))
        yield* notifier.wake("lanes")
      }),

      putOfflineCertificate: Effect.fnUntraced(function* ({ params, payload, request }) {
        const accountId = yield* AccountAuthorization.CurrentAccount
        const now = yield* Clock.currentTimeMillis
        const pair = yield* answerFaults(OfflineCertificates.check(payload, ownerOf(accountId, request), now))
        yield* offlineCertificates
          .put(accountId, params.org_id, pair)
          .pipe(Effect.catchTag("OrganizationNotFound", notFound))
      }),

      getOfflineCertificate: Effect.fnUntraced(function* ({ params }) {
        return yield* offlineCertificates
          .describe(yield* AccountAuthorization.CurrentAccount, params.org_id)
          .pipe(Effect.catchTag("OrganizationNotFound", notFound))
      }),

      deleteOfflineCertificate: Effect.fnUntraced(function* ({ params }) {
        yield* offlineCertificates
          .remove(yield* AccountAuthorization.CurrentAccount, params.org_id)
          .pipe(Effect.catchTag("OrganizationNotFound", notFound))
      }),

      getOverview: Effect.fnUntraced(function* ({ params, query: { window = "24h" } }) {
        const { id } = yield* findOrganization(params.org_id)
        yield* limits
          .take(yield* AccountAuthorization.CurrentAccount)
          .pipe(Effect.catchTag("Throttled", Throttling.fail))
        const [{ at, counts }, ofInvoices, limitedSince, standing] = yield* Effect.all(
          [
            deliveryStats.ofOrganization(id, window),
            invoiceStats.ofOrganization(id),
            deliveryStats.limitedSince(id, organizationConcurrency),
            notices.standing(id)
          ],
          { concurrency: 4 }
        )
        return {
          object: "organization_overview" as const,
          organization_id: id,
          window,
          bucket_seconds: windows[window].seconds,
          generated_at: new Date(at).toISOString(),
          endpoints: counts,
          limited_since: limitedSince === null ? null : limitedSince.toISOString(),
          notices: standing.map(({ at: time, endpoint_id, kind }) => ({
            type: kind,
            endpoint_id,
            since: endpoint_id === null ? null : isoOrNull(time),
            expires_at: endpoint_id === null ? isoOrNull(time) : null
          })),
          invoices: {
            retrying: ofInvoices.retrying,
            rejected_24h: ofInvoices.rejected,
            failed_24h: ofInvoices.failed,
            accepted_24h: ofInvoices.accepted,
            in_progress: ofInvoices.inProgress,
            median_seconds_to_upo: ofInvoices.medianSecondsToUpo
          }
        }
      }),

      getLiveStatus: Effect.fnUntraced(function* ({ params }) {
        const { id } = yield* findOrganization(params.org_id)
        return yield* liveStatus.read(id)
      }),

      getInvoice: Effect.fnUntraced(function* ({ params }) {
        return yield* reads.find(yield* findOwner(params.org_id), params.invoice_id)
      }),

      getInvoiceUpo: Effect.fnUntraced(function* ({ params, request }) {
        return yield* reads.upo(yield* findOwner(params.org_id), params.invoice_id, request)
      }),

      getInvoiceDocument: Effect.fnUntraced(function* ({ params, request }) {
        return yield* reads.document(yield* findOwner(params.org_id), params.invoice_id, request)
      }),

      getInvoicePdf: Effect.fnUntraced(function* ({ params, request }) {
        return yield* reads.pdf(yield* findOwner(params.org_id), params.invoice_id, request)
      }),

      getInvoiceQr: Effect.fnUntraced(function* ({ params, query, request }) {
        return yield* reads.qr(yield* findOwner(params.org_id), params.invoice_id, query, request)
      }),

      listInvoices: Effect.fnUntraced(function* ({ params, query }) {
        const owner = yield* findOwner(params.org_id)
        const { organizationId } = owner
        const {
          created_after,
          created_before,
          event_id: eventId,
          idempotency_key: idempotencyKey,
          mode,
          status
        } = query
        if (idempotencyKey !== undefined && mode === undefined) {
          return yield* Problems.fail("invalid_parameter", {
            param: "idempotency_key",
            message: "idempotency_key: requires mode, because each mode has its own keys."
          })
        }
        const submission = idempotencyKey === undefined || mode === undefined ? undefined : { idempotencyKey, mode }
        const isSettled = created_after !== undefined
        const filters = [
          status,
          mode,
          eventId,
          idempotencyKey,
          created_after,
          created_before,
          ...InvoiceFilters.nameOf(query)
        ]
        return yield* InvoicePages.answer(owner, invoices.settledTime, (settledTime) =>
          Pagination.serve(cursors, ["invoices", organizationId, ...filters], query, (page) =>
            invoices.list(
              organizationId,
              {
                status,
                mode,
                eventId,
                submission,
                isSettled,
                settledTime,
                mayBeLate: true,
                ...InvoiceFilters.read(query)
              },
              Page.within(page, "inv", Pagination.timeOf(query))
            )
          )
        )
      })
    })
  })
)
