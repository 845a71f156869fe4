/** `govoice ksef offline-certificate`: the certificate with which an organization issues invoices offline, without the API. */
import { OfflineCertificate } from "@govoice/api"
import { Clock, Console, Effect, Option, Schema } from "effect"
import * as OfflineCertificates from "../invoices/ksef/OfflineCertificates.ts"
import type { EnvironmentVariables } from "../settings/EnvironmentVariables.ts"
import { CommandFailure } from "./CommandFailure.ts"
import { inOneLine } from "./input.ts"
import * as deployment from "./deployment.ts"
import * as ksef from "./ksef.ts"
import * as organizations from "./organizations.ts"

interface PutFlags extends Pick<ksef.OrganizationFlags, "organization"> {
  readonly certificate: string
  readonly privateKey: Option.Option<string>
}

const refused = (message: string) =>
  new CommandFailure({ message: `The certificate cannot be stored: ${inOneLine(message)}` })

/** Stores the certificate, and replaces the one that the organization has. */
export const put = Effect.fnUntraced(function* (
  env: EnvironmentVariables,
  { certificate, organization, privateKey }: PutFlags
) {
  const settings = yield* deployment.settings(env)
  yield* ksef.ksefEnvironmentOf(settings)
  const request = yield* Schema.decodeUnknownEffect(OfflineCertificate.OfflineCertificateRequest)(
    Option.isSome(privateKey)
      ? yield* ksef.readPair(certificate, privateKey.value)
      : yield* ksef.readPkcs12(certificate)
  ).pipe(Effect.catchTag("SchemaError", ({ message }) => Effect.fail(refused(message))))
  const pair = yield* OfflineCertificates.check(request, ksef.operator, yield* Clock.currentTimeMillis).pipe(
    Effect.mapError(({ message }) => refused(message))
  )
  const store = Effect.gen(function* () {
    const { accountId, id } = yield* organizations.find(settings, organization)
    yield* Effect.orDie((yield* OfflineCertificates.OfflineCertificates).put(accountId, id, pair))
  })
  yield* ksef.withStores(settings, store)
  yield* Console.log(
    `Stored for the environment ${settings.ksef.environmentId}. It signs until ${pair.certificate.validToDate.toISOString()}.`
  )
})

type Described = OfflineCertificate.OfflineCertificate

const lines = (described: Described): ReadonlyArray<string> =>
  described.present
    ? [
        `serial number  ${described.serial_number}`,
        `subject        ${described.subject}`,
        `environment    ${described.environment ?? "none"}`,
        `valid          from ${described.valid_from} until ${described.valid_until}`,
        `state          ${described.state}`,
        `stored         ${described.updated_at}`
      ]
    : ["No offline certificate is stored for this environment."]

/** Prints the certificate without its key. */
export const show = Effect.fnUntraced(function* (
  env: EnvironmentVariables,
  { json, organization }: ksef.OrganizationFlags
) {
  const settings = yield* deployment.settings(env)
  const described = yield* ksef.withStores(
    settings,
    Effect.gen(function* () {
      const { accountId, id } = yield* organizations.find(settings, organization)
      return yield* Effect.orDie((yield* OfflineCertificates.OfflineCertificates).describe(accountId, id))
    })
  )
  yield* Console.log(json ? JSON.stringify(described, null, 2) : lines(described).join("\n"))
})

/** Removes the certificate. */
export const remove = Effect.fnUntraced(function* (
  env: EnvironmentVariables,
  { organization }: Pick<ksef.OrganizationFlags, "organization">
) {
  const settings = yield* deployment.settings(env)
  yield* ksef.withStores(
    settings,
    Effect.gen(function* () {
      const { accountId, id } = yield* organizations.find(settings, organization)
      yield* Effect.orDie((yield* OfflineCertificates.OfflineCertificates).remove(accountId, id))
    })
  )
  yield* Console.log("Offline certificate removed. The organization issues no invoice offline until another is stored.")
})
