/** `govoice ksef credential`: the credential of an organization for the national system, without the API. */
import { GatewayCredential } from "@govoice/api"
import { Clock, Console, Effect, Option, Redacted, Schema } from "effect"
import { Prompt } from "effect/cli"
import { readFileSync } from "node:fs"
import { text } from "node:stream/consumers"
import { checkGatewayCredential } from "../../invoices/live/checkGatewayCredential.ts"
import { GatewayCredentials } from "../../invoices/live/GatewayCredentials.ts"
import * as deployment from "../deployment.ts"
import type { EnvironmentVariables } from "../../settings/EnvironmentVariables.ts"
import { CommandFailure } from "../CommandFailure.ts"
import * as ksef from "./deployment.ts"
import type { OrganizationFlags } from "./flags.ts"

// On a command line it would be seen in the list of processes and kept in the shell's history.
const readSecret = (message: string) =>
  Effect.suspend(() =>
    process.stdin.isTTY
      ? Effect.map(Prompt.run(Prompt.Password({ message })), Redacted.value)
      : Effect.map(
          Effect.promise(() => text(process.stdin)),
          (input) => input.replace(/\r?\n$/, "")
        )
  )

const readFile = (path: string) =>
  Effect.try({
    try: () => readFileSync(path, "utf8"),
    catch: (error) =>
      new CommandFailure({
        message: `${path} cannot be read (${(error as NodeJS.ErrnoException).code ?? "unknown error"}). Check the path and its permissions.`
      })
  })

interface PutFlags extends Pick<OrganizationFlags, "organization"> {
  readonly certificate: Option.Option<string>
  readonly expiresAt: Option.Option<string>
  readonly nip: string
  readonly privateKey: Option.Option<string>
}

const readRequest = Effect.fnUntraced(function* ({
  certificate,
  expiresAt,
  nip,
  privateKey
}: Omit<PutFlags, "organization">) {
  if (Option.isSome(certificate) !== Option.isSome(privateKey)) {
    return yield* new CommandFailure({ message: "Give both --certificate and --private-key, or neither for a token." })
  }
  if (Option.isNone(certificate) || Option.isNone(privateKey)) {
    return {
      type: "ksef_token",
      token: yield* readSecret("KSeF token"),
      context_nip: nip,
      ...(Option.isSome(expiresAt) ? { expires_at: expiresAt.value } : {})
    }
  }
  const key = yield* readFile(privateKey.value)
  return {
    type: "certificate",
    certificate: yield* readFile(certificate.value),
    private_key: key,
    ...(key.includes("ENCRYPTED") ? { private_key_password: yield* readSecret("Password of the private key") } : {}),
    context_nip: nip
  }
})

const operator = { account: "operator", network: "" }

const inOneLine = (message: string): string => message.replaceAll(/^(.+)\n\s+at \["(\w+)"\]$/gm, "$2 $1")

const refused = (message: string) =>
  new CommandFailure({ message: `The credential cannot be stored: ${inOneLine(message)}` })

/** Stores the credential, and replaces the one that the organization has. */
export const put = Effect.fnUntraced(function* (env: EnvironmentVariables, { organization, ...flags }: PutFlags) {
  const settings = yield* deployment.settings(env)
  yield* ksef.ksefEnvironmentOf(settings)
  const request = yield* Schema.decodeUnknownEffect(GatewayCredential.GatewayCredentialRequest)(
    yield* readRequest(flags)
  ).pipe(Effect.catchTag("SchemaError", ({ message }) => Effect.fail(refused(message))))
  const checked = yield* checkGatewayCredential(request, operator, yield* Clock.currentTimeMillis).pipe(
    Effect.mapError(({ message }) => refused(message))
  )
  const store = Effect.gen(function* () {
    const { accountId, id } = yield* ksef.findOrganization(organization)
    yield* Effect.orDie((yield* GatewayCredentials).put(accountId, id, checked))
  })
  yield* ksef.withStores(settings, store)
  yield* Console.log(
    `Stored for the environment ${settings.ksef.environmentId}. Try it with 'govoice ksef check --organization ${organization}'.`
  )
})

type Described = GatewayCredential.GatewayCredential

const lines = (described: Described): ReadonlyArray<string> =>
  described.present
    ? [
        `type         ${described.type}`,
        `context NIP  ${described.context_nip}`,
        `environment  ${described.environment ?? "none"}`,
        `expires      ${described.expires_at ?? "not known"}`,
        `state        ${described.state}${described.checked_at === null ? "" : `, checked ${described.checked_at}`}`,
        ...(described.refusal === null ? [] : [`refusal      ${described.refusal.code}: ${described.refusal.message}`]),
        `stored       ${described.updated_at}`
      ]
    : ["No credential is stored for this environment."]

/** Prints the credential without its secrets. */
export const show = Effect.fnUntraced(function* (env: EnvironmentVariables, { json, organization }: OrganizationFlags) {
  const settings = yield* deployment.settings(env)
  const described = yield* ksef.withStores(
    settings,
    Effect.gen(function* () {
      const { accountId, id } = yield* ksef.findOrganization(organization)
      return yield* Effect.orDie((yield* GatewayCredentials).describe(accountId, id))
    })
  )
  yield* Console.log(json ? JSON.stringify(described, null, 2) : lines(described).join("\n"))
})

/** Removes the credential. */
export const remove = Effect.fnUntraced(function* (
  env: EnvironmentVariables,
  { organization }: Pick<OrganizationFlags, "organization">
) {
  const settings = yield* deployment.settings(env)
  yield* ksef.withStores(
    settings,
    Effect.gen(function* () {
      const { accountId, id } = yield* ksef.findOrganization(organization)
      yield* Effect.orDie((yield* GatewayCredentials).remove(accountId, id))
    })
  )
  yield* Console.log("Credential removed. Waiting invoices of the organization are sent after a new one is stored.")
})
