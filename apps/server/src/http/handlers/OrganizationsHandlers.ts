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

const notFound = () => Problems.fail("organization_not_found")

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
        return yield* organizations
          .find(yield* AccountAuthorization.CurrentAccount, params.org_id)
          .pipe(Effect.catchTag("OrganizationNotFound", notFound))
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

      listInvoices: Effect.fnUntraced(function* ({ params, query }) {
        const organization = yield* organizations
          .find(yield* AccountAuthorization.CurrentAccount, params.org_id)
          .pipe(Effect.catchTag("OrganizationNotFound", notFound))
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
