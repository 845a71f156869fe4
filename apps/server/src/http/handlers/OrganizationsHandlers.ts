/** Serves organizations and the owner's view of their invoices. */
import { AccountAuthorization, Api, Problems } from "@govoice/api"
import { Clock, Effect, Option } from "effect"
import * as RequestContext from "../RequestContext.ts"
import { Cursors } from "../../crypto/Cursors.ts"
import * as Page from "../../database/Page.ts"
import { Invoices } from "../../invoices/Invoices.ts"
import { checkGatewayCredential } from "../../invoices/live/checkGatewayCredential.ts"
import { GatewayCredentials } from "../../invoices/live/GatewayCredentials.ts"
import { Organizations } from "../../accounts/Organizations.ts"
import { Notifier } from "../../jobs/Notifier.ts"
import { LiveStatus } from "../../invoices/live/LiveStatus.ts"
import { InvoiceStats } from "../../invoices/InvoiceStats.ts"
import { DeliveryStats, windows } from "../../webhooks/DeliveryStats.ts"
import { StatisticsLimits } from "../middleware/StatisticsLimits.ts"
import * as Throttling from "../middleware/Throttling.ts"
import * as ClientAddress from "../transport/ClientAddress.ts"
import * as Pagination from "./Pagination.ts"
import * as UpoResponse from "./UpoResponse.ts"

// How long a caller waits that found the queue for encrypted keys full. Opening one takes up to a second.
const keyFilesRetryAfterMs = 5000

const notFound = () => Problems.fail("organization_not_found")
const invoiceNotFound = () => Problems.fail("invoice_not_found", { message: "No such invoice in this organization." })

/** Layer that implements the `organizations` group. */
export const layer = RequestContext.group(
  Api,
  "organizations",
  Effect.fnUntraced(function* (handlers) {
    const credentials = yield* GatewayCredentials
    const cursors = yield* Cursors
    const invoices = yield* Invoices
    const deliveryStats = yield* DeliveryStats
    const invoiceStats = yield* InvoiceStats
    const limits = yield* StatisticsLimits
    const liveStatus = yield* LiveStatus
    const notifier = yield* Notifier
    const organizations = yield* Organizations

    const findOrganization = Effect.fnUntraced(function* (id: string) {
      return yield* organizations
        .find(yield* AccountAuthorization.CurrentAccount, id)
        .pipe(Effect.catchTag("OrganizationNotFound", notFound))
    })

    return handlers.handleAll({
      create: Effect.fnUntraced(function* ({ payload }) {
        return yield* organizations.create(yield* AccountAuthorization.CurrentAccount, payload.name).pipe(
          Effect.catchTag("TooManyOrganizations", () =>
            Problems.fail("limit_reached", {
              message: "The account has as many organizations as it may. Use one of them."
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
        const owner = { account: accountId, network: ClientAddress.group(Option.getOrUndefined(request.remoteAddress)) }
        const checked = yield* checkGatewayCredential(payload, owner, yield* Clock.currentTimeMillis).pipe(
          Effect.catchTags({
            InvalidCredential: ({ message, param }) => Problems.fail("invalid_parameter", { message, param }),
            SlotsFull: () => Throttling.fail({ waitMs: keyFilesRetryAfterMs })
          })
        )
        yield* credentials
          .put(accountId, params.org_id, checked)
          .pipe(Effect.catchTag("OrganizationNotFound", notFound))
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

      getOverview: Effect.fnUntraced(function* ({ params, query: { window = "24h" } }) {
        const { id } = yield* findOrganization(params.org_id)
        yield* limits
          .take(yield* AccountAuthorization.CurrentAccount)
          .pipe(Effect.catchTag("Throttled", Throttling.fail))
        const [{ at, counts }, ofInvoices] = yield* Effect.all(
          [deliveryStats.ofOrganization(id, window), invoiceStats.ofOrganization(id)],
          { concurrency: 2 }
        )
        return {
          object: "organization_overview" as const,
          organization_id: id,
          window,
          bucket_seconds: windows[window].seconds,
          generated_at: new Date(at).toISOString(),
          endpoints: counts,
          invoices: {
            retrying: ofInvoices.retrying,
            rejected_24h: ofInvoices.rejected,
            failed_24h: ofInvoices.failed
          }
        }
      }),

      getLiveStatus: Effect.fnUntraced(function* ({ params }) {
        const { id } = yield* findOrganization(params.org_id)
        return yield* liveStatus.read(id)
      }),

      getVerificationLink: Effect.fnUntraced(function* ({ params }) {
        const { id: organizationId } = yield* findOrganization(params.org_id)
        const { id } = yield* invoices
          .find({ organizationId }, params.invoice_id)
          .pipe(Effect.catchTag("InvoiceNotFound", invoiceNotFound))
        return { object: "verification_link" as const, invoice_id: id, url: yield* liveStatus.verificationLink(id) }
      }),

      getInvoice: Effect.fnUntraced(function* ({ params }) {
        const { id: organizationId } = yield* findOrganization(params.org_id)
        return yield* invoices
          .find({ organizationId }, params.invoice_id)
          .pipe(Effect.catchTag("InvoiceNotFound", invoiceNotFound))
      }),

      getInvoiceUpo: Effect.fnUntraced(function* ({ params, request }) {
        const { id: organizationId } = yield* findOrganization(params.org_id)
        const receipt = yield* invoices.receipt({ organizationId }, params.invoice_id).pipe(
          Effect.catchTags({
            InvoiceNotFound: invoiceNotFound,
            ReceiptNotAvailable: () => Problems.fail("upo_not_available")
          })
        )
        return UpoResponse.respond(params.invoice_id, receipt, request.headers["if-none-match"])
      }),

      listInvoices: Effect.fnUntraced(function* ({ params, query }) {
        const organization = yield* findOrganization(params.org_id)
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
            message: "idempotency_key: requires mode, because each mode has keys of its own."
          })
        }
        const submission = idempotencyKey === undefined || mode === undefined ? undefined : { idempotencyKey, mode }
        const filters = [status, mode, eventId, idempotencyKey, created_after, created_before]
        return yield* Pagination.serve(cursors, ["invoices", organization.id, ...filters], query, (page) =>
          invoices.list(
            organization.id,
            { status, mode, eventId, submission },
            Page.within(page, "inv", Pagination.timeOf(query))
          )
        )
      })
    })
  })
)
