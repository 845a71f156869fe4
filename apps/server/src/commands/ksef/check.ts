/** `govoice ksef check`: logs in with the credential of an organization, and tells what it may do. */
import { Console, Effect, Option, Redacted } from "effect"
import { GatewayCredentials } from "../../invoices/live/GatewayCredentials.ts"
import * as deployment from "../deployment.ts"
import type { EnvironmentVariables } from "../../settings/EnvironmentVariables.ts"
import { CommandFailure } from "../CommandFailure.ts"
import * as ksef from "./deployment.ts"
import type { OrganizationFlags } from "./flags.ts"
import { logIn } from "./logIn.ts"

/** The permissions that Govoice uses. */
const used = {
  InvoiceWrite: "sends invoices; without it, nothing can be sent",
  InvoiceRead: "compares a duplicate with the original; without it, some duplicates stay unresolved"
} as const

// The claims of KSeF's tokens are not documented: permissions are shown where they are found, and decide nothing.
const permissionsOf = (accessToken: Redacted.Redacted): ReadonlyArray<string> | undefined => {
  try {
    const [, payload = ""] = Redacted.value(accessToken).split(".")
    const { per } = JSON.parse(Buffer.from(payload, "base64url").toString()) as { readonly per?: unknown }
    const list: unknown = typeof per === "string" ? JSON.parse(per) : per
    return Array.isArray(list) ? list.filter((entry) => typeof entry === "string") : undefined
  } catch {
    return undefined
  }
}

const groups = ["onlineSession", "invoiceSend", "invoiceStatus", "batchSession"] as const

const read = (settings: Parameters<typeof ksef.withStores>[0], organization: string) =>
  ksef.withStores(
    settings,
    Effect.gen(function* () {
      const { id } = yield* ksef.findOrganization(organization)
      const stored = yield* (yield* GatewayCredentials)
        .read(id)
        .pipe(Effect.mapError(({ message }) => new CommandFailure({ message: `${message}.` })))
      if (Option.isSome(stored)) return stored.value
      return yield* new CommandFailure({
        message: `The organization has no credential for the environment ${settings.ksef.environmentId}. Store one with 'govoice ksef credential put'.`
      })
    })
  )

/** Logs in, prints the permissions and limits, and logs out. Fails when the credential may not send invoices. */
export const check = Effect.fnUntraced(function* (
  env: EnvironmentVariables,
  { json, organization }: OrganizationFlags
) {
  const settings = yield* deployment.settings(env)
  yield* ksef.ksefEnvironmentOf(settings)
  const stored = yield* read(settings, organization)
  const report = yield* ksef.withClient(settings, (client) =>
    Effect.gen(function* () {
      const { accessToken, refreshToken } = yield* logIn(client, stored)
      const limits = yield* Effect.all([
        client.contextLimits(accessToken.token),
        client.rateLimits(accessToken.token)
      ]).pipe(Effect.ensuring(Effect.ignore(client.revoke(refreshToken.token))))
      return { permissions: permissionsOf(accessToken.token), context: limits[0], rate: limits[1] }
    }).pipe(
      Effect.catchTag("LoginRefused", ({ code, message }) =>
        Effect.fail(new CommandFailure({ message: `${code}: ${message}` }))
      ),
      Effect.catchTag("KsefError", ({ message }) =>
        Effect.fail(new CommandFailure({ message: `KSeF did not answer as expected: ${message}` }))
      )
    )
  )
  const missing = Object.keys(used).filter((name) => report.permissions?.includes(name) === false)
  if (json) {
    yield* Console.log(
      JSON.stringify(
        {
          environment: settings.ksef.environmentId,
          context_nip: stored.contextNip,
          type: stored.credential.type,
          ...report,
          missing
        },
        null,
        2
      )
    )
  } else {
    yield* Console.log(
      `logged in    ${settings.ksef.environmentId}, NIP ${stored.contextNip}, by ${stored.credential.type}`
    )
    yield* Console.log(`permissions  ${report.permissions?.join(", ") ?? "unknown: KSeF does not list them"}`)
    for (const name of missing) yield* Console.log(`missing      ${name}: ${used[name as keyof typeof used]}`)
    for (const group of groups) {
      const limit = report.rate[group]
      if (limit !== undefined) {
        yield* Console.log(`limit        ${group}: ${limit.perSecond}/s, ${limit.perMinute}/min, ${limit.perHour}/h`)
      }
    }
    yield* Console.log(
      `sessions     ${report.context.onlineSession.maxInvoices} invoices interactive, ${report.context.batchSession.maxInvoices} in a batch`
    )
  }
  if (missing.includes("InvoiceWrite")) {
    return yield* new CommandFailure({ message: "The credential may not send invoices. Grant it InvoiceWrite." })
  }
})
