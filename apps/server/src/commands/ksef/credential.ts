/** `govoice ksef credential`: the credential of an organization for the national system, without the API. */
import { GatewayCredential } from "@govoice/api"
import { Clock, Console, Effect, Option, Redacted, Schema } from "effect"
import { Command, Flag, Prompt } from "effect/cli"
import { readFileSync } from "node:fs"
import { text } from "node:stream/consumers"
import { checkGatewayCredential } from "../../invoices/live/checkGatewayCredential.ts"
import { GatewayCredentials } from "../../invoices/live/GatewayCredentials.ts"
import * as deployment from "../deployment.ts"
import { Failure } from "../Failure.ts"
import * as ksef from "./deployment.ts"

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
    catch: () => new Failure({ message: `${path} cannot be read.` })
  })

interface PutFlags {
  readonly certificate: Option.Option<string>
  readonly expiresAt: Option.Option<string>
  readonly nip: string
  readonly privateKey: Option.Option<string>
}

const readRequest = Effect.fnUntraced(function* ({ certificate, expiresAt, nip, privateKey }: PutFlags) {
  if (Option.isSome(certificate) !== Option.isSome(privateKey)) {
    return yield* new Failure({ message: "Give both --certificate and --private-key, or neither for a token." })
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

const inOneLine = (message: string): string => message.replaceAll(/^(.+)\n\s+at \["(\w+)"\]$/gm, "$2 $1")

const refused = (message: string) => new Failure({ message: `The credential cannot be stored: ${inOneLine(message)}` })

const put = (environment: deployment.Environment) =>
  Command.make(
    "put",
    {
      organization: ksef.organization,
      nip: Flag.String("nip").pipe(Flag.withDescription("The NIP of the taxpayer whose invoices are submitted.")),
      certificate: Flag.String("certificate").pipe(
        Flag.withDescription("File of a KSeF certificate of the type Authentication, in PEM."),
        Flag.optional
      ),
      privateKey: Flag.String("private-key").pipe(
        Flag.withDescription("File of its private key, in PEM. The password of an encrypted one is asked for."),
        Flag.optional
      ),
      expiresAt: Flag.String("expires-at").pipe(
        Flag.withDescription("When a token expires, as 2026-12-31T22:59:59Z."),
        Flag.optional
      )
    },
    Effect.fnUntraced(function* ({ organization, ...flags }) {
      const settings = yield* deployment.settings(environment)
      yield* ksef.environmentOf(settings)
      const request = yield* Schema.decodeUnknownEffect(GatewayCredential.GatewayCredentialRequest)(
        yield* readRequest(flags)
      ).pipe(Effect.catchTag("SchemaError", ({ message }) => Effect.fail(refused(message))))
      const checked = yield* checkGatewayCredential(request, "operator", yield* Clock.currentTimeMillis).pipe(
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
  ).pipe(
    Command.withDescription(
      "Store the credential of an organization, and replace the one that it has. A token is asked for, or read from standard input; a certificate and its key are read from files."
    ),
    Command.withShortDescription("Store the credential of an organization."),
    Command.withExamples([
      {
        command: "govoice ksef credential put --organization org_… --nip 5265877635 < token.txt",
        description: "Store a token"
      },
      {
        command:
          "govoice ksef credential put --organization org_… --nip 5265877635 --certificate auth.crt --private-key auth.key",
        description: "Store a certificate; the password of the key is asked for"
      }
    ])
  )

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

const show = (environment: deployment.Environment) =>
  Command.make(
    "show",
    { organization: ksef.organization, json: ksef.json },
    Effect.fnUntraced(function* ({ json, organization }) {
      const settings = yield* deployment.settings(environment)
      const described = yield* ksef.withStores(
        settings,
        Effect.gen(function* () {
          const { accountId, id } = yield* ksef.findOrganization(organization)
          return yield* Effect.orDie((yield* GatewayCredentials).describe(accountId, id))
        })
      )
      yield* Console.log(json ? JSON.stringify(described, null, 2) : lines(described).join("\n"))
    })
  ).pipe(Command.withDescription("Describe the credential of an organization, without its secrets."))

const remove = (environment: deployment.Environment) =>
  Command.make(
    "remove",
    { organization: ksef.organization },
    Effect.fnUntraced(function* ({ organization }) {
      const settings = yield* deployment.settings(environment)
      yield* ksef.withStores(
        settings,
        Effect.gen(function* () {
          const { accountId, id } = yield* ksef.findOrganization(organization)
          yield* Effect.orDie((yield* GatewayCredentials).remove(accountId, id))
        })
      )
      yield* Console.log("Removed. Invoices of the organization that wait are sent after a new one is stored.")
    })
  ).pipe(
    Command.withDescription("Remove the credential of an organization, with its login at KSeF."),
    Command.withShortDescription("Remove the credential of an organization.")
  )

export const credential = (environment: deployment.Environment) =>
  Command.make("credential").pipe(
    Command.withDescription("Credentials of organizations for the national system (KSeF)."),
    Command.withSubcommands([put(environment), show(environment), remove(environment)])
  )
