/** What commands read: secrets, and how they say what is wrong with what they were given. */
import { Effect, Redacted } from "effect"
import { Prompt } from "effect/cli"
import { text } from "node:stream/consumers"

/**
 * Reads a secret from a prompt, or from standard input. On a command line it would be seen in the list of processes and kept in
 * the shell's history.
 */
export const readSecret = (message: string) =>
  Effect.suspend(() =>
    process.stdin.isTTY
      ? Effect.map(Prompt.run(Prompt.Password({ message })), Redacted.value)
      : Effect.map(
          Effect.promise(() => text(process.stdin)),
          (input) => input.replace(/\r?\n$/, "")
        )
  )

/** Writes the message of a schema in one line. */
export const inOneLine = (message: string): string =>
  message.replaceAll(
    /^(.+)\n\s+at \["(\w+)"\](?:\["(\w+)"\])?$/gm,
    (_, predicate: string, name: string, member?: string) =>
      `${member === undefined ? name : `${name}.${member}`} ${predicate}`
  )
