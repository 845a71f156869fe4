/** `govoice ksef`: the national system (KSeF), its credentials, and what waits for it. */
import { Command } from "effect/cli"
import type * as deployment from "./deployment.ts"
import { check } from "./ksef/check.ts"
import { credential } from "./ksef/credential.ts"
import { settle } from "./ksef/settle.ts"
import { status } from "./ksef/status.ts"

export const ksef = (environment: deployment.Environment) =>
  Command.make("ksef").pipe(
    Command.withDescription("The national system (KSeF): credentials, lanes, and invoices that wait."),
    Command.withSubcommands([status(environment), credential(environment), check(environment), settle(environment)])
  )
