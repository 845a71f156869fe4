/** Serves API keys. */
import { AccountAuthorization, Api, Problems } from "@govoice/api"
import { Clock, Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Authenticator } from "../../accounts/Authenticator.ts"
import { Cursors } from "../../crypto/Cursors.ts"
import { ApiKeys } from "../../accounts/ApiKeys.ts"
import { Organizations } from "../../accounts/Organizations.ts"
import * as Pagination from "./Pagination.ts"

const organizationNotFound = () => Problems.fail("organization_not_found")

/** Layer that implements the `apiKeys` group. */
export const layer = HttpApiBuilder.group(
  Api,
  "apiKeys",
  Effect.fnUntraced(function* (handlers) {
    const apiKeys = yield* ApiKeys
    const authenticator = yield* Authenticator
    const cursors = yield* Cursors
    const organizations = yield* Organizations

    return handlers.handleAll({
      create: Effect.fnUntraced(function* ({ params, payload }) {
        const accountId = yield* AccountAuthorization.CurrentAccount
        const expiresAt = payload.expires_at == null ? null : new Date(payload.expires_at)
        if (expiresAt !== null && expiresAt.getTime() <= (yield* Clock.currentTimeMillis)) {
          return yield* Problems.fail("invalid_parameter", {
            param: "expires_at",
            message: "expires_at: must be in the future."
          })
        }
        return yield* apiKeys
          .create(accountId, params.org_id, { mode: payload.mode, name: payload.name ?? null, expiresAt })
          .pipe(
            Effect.catchTags({
              OrganizationNotFound: organizationNotFound,
              TooManyApiKeys: () =>
                Problems.fail("limit_reached", {
                  message: "The organization has the maximum number of API keys. Revoke one you no longer use."
                })
            })
          )
      }),

      list: Effect.fnUntraced(function* ({ params, query }) {
        const organization = yield* organizations
          .find(yield* AccountAuthorization.CurrentAccount, params.org_id)
          .pipe(Effect.catchTag("OrganizationNotFound", organizationNotFound))
        return yield* Pagination.serve(cursors, ["apiKeys", organization.id], query, (page) =>
          apiKeys.list(organization.id, page)
        )
      }),

      revoke: Effect.fnUntraced(function* ({ params }) {
        const hash = yield* apiKeys
          .revoke(yield* AccountAuthorization.CurrentAccount, params.key_id)
          .pipe(Effect.catchTag("ApiKeyNotFound", () => Problems.fail("api_key_not_found")))
        yield* authenticator.invalidateApiKey(hash)
      })
    })
  })
)
