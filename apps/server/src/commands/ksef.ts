/** `govoice ksef`: the national system (KSeF), its credentials, and what waits for it. */
import type { Environment, KsefClient, KsefError } from "@govoice/ksef/client"
import { ContextIdentifier } from "@govoice/ksef/format"
import { Clock, Console, Effect, Layer, Option, Redacted, Schema } from "effect"
import * as GatewayCredentials from "../invoices/ksef/GatewayCredentials.ts"
import * as OfflineCertificates from "../invoices/ksef/OfflineCertificates.ts"
import { makeClient, NationalSystem } from "../invoices/ksef/NationalSystem.ts"
import * as Organizations from "../accounts/Organizations.ts"
import * as KeyRing from "../crypto/KeyRing.ts"
import { Settings, type SettingsShape } from "../settings/Settings.ts"
import * as deployment from "./deployment.ts"
import * as organizations from "./organizations.ts"
import { CommandFailure } from "./CommandFailure.ts"
import { inOneLine, readSecret } from "./input.ts"
import { PublicKeys } from "@govoice/ksef/crypto"
import { ErrorCodes, type LoginAnswers } from "@govoice/ksef/protocol"
import * as LaneOverview from "../invoices/ksef/LaneOverview.ts"
import * as Logins from "../invoices/ksef/Logins.ts"
import type { EnvironmentVariables } from "../settings/EnvironmentVariables.ts"
import { GatewayCredential } from "@govoice/api"
import type { SqlClient } from "effect/sql"
import { readFileSync } from "node:fs"
import { checkGatewayCredential } from "../invoices/ksef/checkGatewayCredential.ts"
import { failSubmittedInvoice } from "../invoices/ksef/failSubmittedInvoice.ts"
import { reasonOf } from "../observability/reasonOf.ts"

/** The flags of commands about an organization. */
export interface OrganizationFlags {
  readonly organization: string
  readonly json: boolean
}

/** Returns the environment of KSeF that the settings name. */
export const ksefEnvironmentOf = ({ ksef }: SettingsShape): Effect.Effect<Environment.Environment, CommandFailure> =>
  ksef.environment === undefined
    ? Effect.fail(
        new CommandFailure({
          message: "No environment of KSeF is configured. Set GOVOICE_KSEF_ENVIRONMENT or GOVOICE_KSEF_URL."
        })
      )
    : Effect.succeed(ksef.environment)

/** Runs an effect with a client of the environment. */
export const withClient = <A, E, R>(
  settings: SettingsShape,
  use: (client: KsefClient.KsefClient) => Effect.Effect<A, E, R>
) =>
  Effect.gen(function* () {
    const environment = yield* ksefEnvironmentOf(settings)
    return yield* use(yield* makeClient({ environment, proxy: settings.ksef.proxy }))
  }).pipe(Effect.scoped)

// Also while live mode is off: removing a credential ends its login. The database does not remember the environment for it.
const nationalSystem = ({ ksef: { environment, environmentId, proxy } }: SettingsShape) =>
  environment === undefined || environmentId === undefined
    ? Layer.empty
    : Layer.effect(
        NationalSystem,
        Effect.map(makeClient({ environment, proxy }), (client) => ({ client, environment, environmentId }))
      )

/** Runs an effect on the stores of the deployment. */
export const withStores = <A, E>(
  settings: SettingsShape,
  effect: Effect.Effect<
    A,
    E,
    | GatewayCredentials.GatewayCredentials
    | OfflineCertificates.OfflineCertificates
    | Organizations.Organizations
    | SqlClient.SqlClient
  >
) =>
  Effect.gen(function* () {
    const { encryptionKeys } = yield* deployment.secrets(settings)
    const stores = Layer.mergeAll(GatewayCredentials.layer, OfflineCertificates.layer, Organizations.layer).pipe(
      Layer.provide([KeyRing.layer(encryptionKeys), Layer.succeed(Settings)(settings), nationalSystem(settings)])
    )
    return yield* deployment.onMigrated(settings, Effect.provide(effect, stores))
  })

const refusalOf = (error: KsefError): Logins.CredentialRefused | KsefError => {
  const operation = error.call === "loginWithXades" ? "loginWithXades" : "loginWithToken"
  const row = error.problem?.errors
    .map(({ code }) => ErrorCodes.errorCode(operation, code))
    .find((found) => found?.refusal !== undefined)
  return row?.refusal === undefined
    ? error
    : new Logins.CredentialRefused({ code: row.refusal, message: `KSeF refuses the login: ${row.meaning}.` })
}

type LoginClient = Logins.LoginClient & Pick<KsefClient.KsefClient, "publicKeys">

const tokenKeyOf = (client: LoginClient) =>
  Effect.gen(function* () {
    const key = PublicKeys.select(yield* client.publicKeys, "KsefTokenEncryption", yield* Clock.currentTimeMillis)
    return key ?? (yield* Effect.die(new Error("KSeF lists no public key that can be used")))
  })

/** Logs in, and returns the tokens of the login. */
export const logIn = (
  client: LoginClient,
  login: Parameters<typeof Logins.logInOnce>[1]
): Effect.Effect<typeof LoginAnswers.Tokens.Type, Logins.CredentialRefused | KsefError> =>
  Logins.logInOnce({ client, call: (_, effect) => effect, tokenKey: tokenKeyOf(client) }, login).pipe(
    Effect.flatMap((end) =>
      end._tag === "tokens" ? Effect.succeed(end.tokens) : Effect.fail(new Logins.CredentialRefused(end.refusal))
    ),
    Effect.catchTag("KsefError", (error) => Effect.fail(refusalOf(error)))
  )

type Beacon = { readonly status: string; readonly messages: ReadonlyArray<string> } | undefined

// The beacon explains an outage, and decides nothing: it was down or wrong itself.
const readBeacon = (settings: Parameters<typeof withClient>[0]) =>
  withClient(settings, (client) => client.beacon).pipe(
    Effect.map((beacon): Beacon =>
      beacon === undefined
        ? undefined
        : {
            status: beacon.status,
            messages: (beacon.messages ?? []).flatMap(({ text, title }) => title ?? text ?? [])
          }
    ),
    Effect.catchTag("KsefError", ({ message }) =>
      Effect.succeed<Beacon>({ status: `no answer (${message})`, messages: [] })
    )
  )

const since = (date: Date | null): string => (date === null ? "" : `, the oldest since ${date.toISOString()}`)

const overviewLines = (
  environmentId: string,
  beacon: Beacon,
  overview: LaneOverview.LaneOverview
): ReadonlyArray<string> => [
  `environment  ${environmentId}`,
  ...(overview.environment === null || overview.environment === environmentId
    ? []
    : [`database     belongs to the environment ${overview.environment}`]),
  `beacon       ${beacon?.status ?? "none in this environment"}`,
  ...(beacon?.messages ?? []).map((message) => `             ${message}`),
  `lanes        ${overview.lanes}, ${overview.leased} leased, ${overview.due} due`,
  ...overview.blocked.map(({ blocked, context }) => `blocked      ${context}: ${JSON.stringify(blocked)}`),
  `unsent       ${overview.unsent}${since(overview.oldest_unsent_at)}`,
  `pending      ${overview.pending}${since(overview.oldest_pending_at)}`
]

/** Prints the beacon, the lanes, and what waits. */
export const status = Effect.fnUntraced(function* (
  env: EnvironmentVariables,
  { json }: Pick<OrganizationFlags, "json">
) {
  const settings = yield* deployment.settings(env)
  yield* ksefEnvironmentOf(settings)
  const overview = yield* deployment.onMigrated(settings, LaneOverview.read)
  const beacon = yield* readBeacon(settings)
  const { environmentId = "" } = settings.ksef
  yield* Console.log(
    json
      ? JSON.stringify({ beacon: beacon ?? null, configured: environmentId, ...overview }, null, 2)
      : overviewLines(environmentId, beacon, overview).join("\n")
  )
})

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

const readAccess = (settings: Parameters<typeof withStores>[0], organization: string) =>
  withStores(
    settings,
    Effect.gen(function* () {
      const { id } = yield* organizations.find(settings, organization)
      const stored = yield* (yield* GatewayCredentials.GatewayCredentials)
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
  yield* ksefEnvironmentOf(settings)
  const stored = yield* readAccess(settings, organization)
  const report = yield* withClient(settings, (client) =>
    Effect.gen(function* () {
      const { accessToken, refreshToken } = yield* logIn(client, stored)
      const limits = yield* Effect.all([
        client.contextLimits(accessToken.token),
        client.rateLimits(accessToken.token)
      ]).pipe(Effect.ensuring(Effect.ignore(client.revoke(refreshToken.token))))
      return { permissions: permissionsOf(accessToken.token), sessions: limits[0], rate: limits[1] }
    }).pipe(
      Effect.catchTag("CredentialRefused", ({ code, message }) =>
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
          context: stored.context,
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
      `logged in    ${settings.ksef.environmentId}, ${stored.context.type} ${stored.context.value}, by ${stored.credential.type}`
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
      `sessions     ${report.sessions.onlineSession.maxInvoices} invoices interactive, ${report.sessions.batchSession.maxInvoices} in a batch`
    )
  }
  if (missing.includes("InvoiceWrite")) {
    return yield* new CommandFailure({ message: "The credential may not send invoices. Grant it InvoiceWrite." })
  }
})

const readBytes = (path: string) =>
  Effect.try({
    try: () => readFileSync(path),
    catch: (error) =>
      new CommandFailure({
        message: `${path} cannot be read (${(error as NodeJS.ErrnoException).code ?? "unknown error"}). Check the path and its permissions.`
      })
  })

const passwordOfKey = readSecret("Password of the private key")

/** Reads the files of a certificate and its key, and the password if the key is encrypted, as the API takes them. */
export const readPair = Effect.fnUntraced(function* (certificate: string, privateKey: string) {
  const key = (yield* readBytes(privateKey)).toString("utf8")
  return {
    certificate: (yield* readBytes(certificate)).toString("utf8"),
    private_key: key,
    ...(key.includes("ENCRYPTED") ? { private_key_password: yield* passwordOfKey } : {})
  }
})

/** Reads a PKCS#12 file and its password, as the API takes them. */
export const readPkcs12 = Effect.fnUntraced(function* (path: string) {
  return { certificate: (yield* readBytes(path)).toString("base64"), private_key_password: yield* passwordOfKey }
})

/** The owner of keys that a command opens. */
export const operator = { account: "operator", network: "" }

interface PutFlags extends Pick<OrganizationFlags, "organization"> {
  readonly certificate: Option.Option<string>
  readonly context: string
  readonly expiresAt: Option.Option<string>
  readonly privateKey: Option.Option<string>
}

const readRequest = Effect.fnUntraced(function* ({
  certificate,
  context: value,
  expiresAt,
  privateKey
}: Omit<PutFlags, "organization">) {
  if (Option.isSome(certificate) !== Option.isSome(privateKey)) {
    return yield* new CommandFailure({ message: "Give both --certificate and --private-key, or neither for a token." })
  }
  // The API takes the type as well, and checks the value.
  const context = ContextIdentifier.ofValue(value)
  if (Option.isNone(certificate) || Option.isNone(privateKey)) {
    return {
      type: "ksef_token",
      token: yield* readSecret("KSeF token"),
      context,
      ...(Option.isSome(expiresAt) ? { expires_at: expiresAt.value } : {})
    }
  }
  return { type: "certificate", ...(yield* readPair(certificate.value, privateKey.value)), context }
})

const refused = (message: string) =>
  new CommandFailure({ message: `The credential cannot be stored: ${inOneLine(message)}` })

/** Stores the credential, and replaces the one that the organization has. */
export const put = Effect.fnUntraced(function* (env: EnvironmentVariables, { organization, ...flags }: PutFlags) {
  const settings = yield* deployment.settings(env)
  yield* ksefEnvironmentOf(settings)
  const request = yield* Schema.decodeUnknownEffect(GatewayCredential.GatewayCredentialRequest)(
    yield* readRequest(flags)
  ).pipe(Effect.catchTag("SchemaError", ({ message }) => Effect.fail(refused(message))))
  const checked = yield* checkGatewayCredential(request, operator, yield* Clock.currentTimeMillis).pipe(
    Effect.mapError(({ message }) => refused(message))
  )
  const store = Effect.gen(function* () {
    const { accountId, id } = yield* organizations.find(settings, organization)
    yield* (yield* GatewayCredentials.GatewayCredentials).put(accountId, id, checked).pipe(
      Effect.catchTags({
        OrganizationNotFound: Effect.die,
        ServedByOtherCell: (error) => Effect.fail(refused(`${error.remedy(id)}.`)),
        ControlCellUnavailable: ({ cause, message }) => Effect.fail(refused(`${message} ${reasonOf(cause)}`))
      })
    )
  })
  yield* withStores(settings, store)
  yield* Console.log(
    `Stored for the environment ${settings.ksef.environmentId}. Try it with 'govoice ksef check --organization ${organization}'.`
  )
})

type Described = GatewayCredential.GatewayCredential

const credentialLines = (described: Described): ReadonlyArray<string> =>
  described.present
    ? [
        `type         ${described.type}`,
        `context      ${described.context?.type} ${described.context?.value}`,
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
  const described = yield* withStores(
    settings,
    Effect.gen(function* () {
      const { accountId, id } = yield* organizations.find(settings, organization)
      return yield* Effect.orDie((yield* GatewayCredentials.GatewayCredentials).describe(accountId, id))
    })
  )
  yield* Console.log(json ? JSON.stringify(described, null, 2) : credentialLines(described).join("\n"))
})

/** Removes the credential. */
export const remove = Effect.fnUntraced(function* (
  env: EnvironmentVariables,
  { organization }: Pick<OrganizationFlags, "organization">
) {
  const settings = yield* deployment.settings(env)
  yield* withStores(
    settings,
    Effect.gen(function* () {
      const { accountId, id } = yield* organizations.find(settings, organization)
      yield* Effect.orDie((yield* GatewayCredentials.GatewayCredentials).remove(accountId, id))
    })
  )
  yield* Console.log("Credential removed. Waiting invoices of the organization are sent after a new one is stored.")
})

/** Decides that the invoice failed. */
export const settle = Effect.fnUntraced(function* (
  env: EnvironmentVariables,
  { failed, invoice }: { readonly failed: boolean; readonly invoice: string }
) {
  if (!failed) {
    return yield* new CommandFailure({ message: "Name the outcome: --failed is the one that an operator can decide." })
  }
  const settings = yield* deployment.settings(env)
  const { code, outcome } = yield* deployment.onMigrated(
    settings,
    Effect.catchTag(failSubmittedInvoice(invoice), "FailRefused", ({ message }) =>
      Effect.fail(new CommandFailure({ message }))
    )
  )
  yield* Console.log(
    outcome === "settled"
      ? `Invoice ${invoice} failed with unknown_verdict: its status ${code} is polled no more, and its webhook is sent.`
      : `Invoice ${invoice} was settled before. Nothing changed.`
  )
})
