/** `govoice ksef`: the national system (KSeF), its credentials, and what waits for it. */
import { Command, Flag } from "effect/cli"
import type { EnvironmentVariables } from "../settings/EnvironmentVariables.ts"
import { json, organization } from "./ksef/flags.ts"
import { load } from "./load.ts"

const status = (env: EnvironmentVariables) =>
  Command.make("status", { json }, (flags) =>
    load(
      () => import("./ksef/status.ts"),
      ({ status }) => status(env, flags)
    )
  ).pipe(
    Command.withDescription(
      "Show the beacon of KSeF, the lanes of the taxpayers, what KSeF blocks and until when, and the invoices that were not sent or have no verdict. The circuit breaker belongs to each process: see the metric govoice_ksef_breaker_open."
    ),
    Command.withShortDescription("Show the lanes, and the invoices that wait for KSeF.")
  )

const put = (env: EnvironmentVariables) =>
  Command.make(
    "put",
    {
      organization,
      nip: Flag.String("nip").pipe(Flag.withDescription("The NIP of the taxpayer whose invoices are submitted.")),
      certificate: Flag.String("certificate").pipe(
        Flag.withDescription("File of a KSeF certificate of the type Authentication, in PEM."),
        Flag.optional
      ),
      privateKey: Flag.String("private-key").pipe(
        Flag.withDescription("File of its private key, in PEM. The password of an encrypted key is read like a token."),
        Flag.optional
      ),
      expiresAt: Flag.String("expires-at").pipe(
        Flag.withDescription("When a token expires, as 2026-12-31T22:59:59Z."),
        Flag.optional
      )
    },
    (flags) =>
      load(
        () => import("./ksef/credential.ts"),
        ({ put }) => put(env, flags)
      )
  ).pipe(
    Command.withDescription(
      "Store the credential of an organization, and replace the one that it has. A token is read from standard input, or from a prompt; a certificate and its key are read from files."
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
        description: "Store a certificate, and prompt for the password of an encrypted key"
      }
    ])
  )

const show = (env: EnvironmentVariables) =>
  Command.make("show", { organization, json }, (flags) =>
    load(
      () => import("./ksef/credential.ts"),
      ({ show }) => show(env, flags)
    )
  ).pipe(Command.withDescription("Describe the credential of an organization, without its secrets."))

const remove = (env: EnvironmentVariables) =>
  Command.make("remove", { organization }, (flags) =>
    load(
      () => import("./ksef/credential.ts"),
      ({ remove }) => remove(env, flags)
    )
  ).pipe(
    Command.withDescription("Remove the credential of an organization, with its login at KSeF."),
    Command.withShortDescription("Remove the credential of an organization.")
  )

const credential = (env: EnvironmentVariables) =>
  Command.make("credential").pipe(
    Command.withDescription("Credentials of organizations for the national system (KSeF)."),
    Command.withSubcommands([put(env), show(env), remove(env)])
  )

const check = (env: EnvironmentVariables) =>
  Command.make("check", { organization, json }, (flags) =>
    load(
      () => import("./ksef/check.ts"),
      ({ check }) => check(env, flags)
    )
  ).pipe(
    Command.withDescription(
      "Log in with the credential of an organization, read its permissions and limits, and log out. Sends no invoice. Exits with 1 when the login is refused or may not send invoices."
    ),
    Command.withShortDescription("Log in with the credential of an organization.")
  )

const settle = (env: EnvironmentVariables) =>
  Command.make(
    "settle",
    {
      invoice: Flag.String("invoice").pipe(Flag.withDescription("The invoice, inv_…, as the API names it.")),
      failed: Flag.Boolean("failed").pipe(
        Flag.withDescription("Decide that the invoice failed. It is the one outcome that an operator can decide."),
        Flag.withDefault(false)
      )
    },
    (flags) =>
      load(
        () => import("./ksef/settle.ts"),
        ({ settle }) => settle(env, flags)
      )
  ).pipe(
    Command.withDescription(
      "Decide that a submitted invoice failed. KSeF has given it a status that is not documented, and Govoice polls it until an operator decides. Look the invoice up in KSeF first: one that KSeF accepted must not be submitted again. Any other invoice is refused."
    ),
    Command.withShortDescription("Decide about an invoice whose status no rule covers."),
    Command.withExamples([
      { command: "govoice ksef settle --invoice inv_… --failed", description: "The invoice failed" }
    ])
  )

export const ksef = (env: EnvironmentVariables) =>
  Command.make("ksef").pipe(
    Command.withDescription("The national system (KSeF): credentials, lanes, and invoices that wait."),
    Command.withSubcommands([status(env), credential(env), check(env), settle(env)])
  )
