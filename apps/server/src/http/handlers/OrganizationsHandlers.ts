/** Serves organizations and the owner's view of their invoices. */
import { AccountAuthorization, Api, Problems } from "@govoice/api"
import { Clock, Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Cursors } from "../../crypto/Cursors.ts"
import { Invoices } from "../../invoices/Invoices.ts"
import { checkGatewayCredential } from "../../accounts/checkGatewayCredential.ts"
import { GatewayCredentials } from "../../accounts/GatewayCredentials.ts"
import { Organizations } from "../../accounts/Organizations.ts"
import { Notifier } from "../../jobs/Notifier.ts"
import * as Pagination from "./Pagination.ts"
import * as UpoResponse from "./UpoResponse.ts"

const notFound = () => Problems.fail("organization_not_found")
const invoiceNotFound = () => Problems.fail("invoice_not_found", { message: "No such invoice in this organization." })

/** Layer that implements the `organizations` group. */
export const layer = HttpApiBuilder.group(
  Api,
  "organizations",
  Effect.fnUntraced(function* (handlers) {
    const credentials = yield* GatewayCredentials
    const cursors = yield* Cursors
    const invoices = yield* Invoices
    const notifier = yield* Notifier
    const organizations = yield* Organizations

    const findOrganization = Effect.fnUntraced(function* (id: string) {
      return yield* organizations
        .find(yield* AccountAuthorization.CurrentAccount, id)
        .pipe(Effect.catchTag("OrganizationNotFound", notFound))
    })

    return handlers.handleAll({
      create: Effect.fnUntraced(function* ({ payload }) {
        return yield* organizations
          .create(yield* AccountAuthorization.CurrentAccount, payload.name)
          .pipe(Effect.catchTag("TooManyOrganizations", () => Problems.fail("limit_reached")))
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

      putGatewayCredential: Effect.fnUntraced(function* ({ params, payload }) {
        const accountId = yield* AccountAuthorization.CurrentAccount
        const checked = yield* checkGatewayCredential(payload, yield* Clock.currentTimeMillis).pipe(
          Effect.catchTag("InvalidCredential", ({ message, param }) =>
            Problems.fail("invalid_parameter", { message, param })
          )
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
        return yield* Pagination.serve(
          cursors,
          ["invoices", organization.id, query.status, query.mode],
          query,
          (page) => invoices.list(organization.id, query, page)
        )
      })
    })
  })
)
