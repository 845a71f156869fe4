/** `govoice settings`: prints every setting from the table that reads them. */
import { Console, Effect } from "effect"
import { Command } from "effect/cli"
import { type Definition, definitions } from "../settings/definitions.ts"

const describe = (name: string, definition: Definition<unknown>): string =>
  [
    name,
    `  ${definition.description.replaceAll("`", "")}`,
    `  Default: ${(definition.defaultText ?? String(definition.default)).replaceAll("`", "")}`
  ].join("\n")

const all: ReadonlyArray<readonly [string, Definition<unknown>]> = Object.entries(definitions)

export const settings = Command.make("settings", {}, () =>
  Effect.forEach(all, ([name, definition]) => Console.log(`${describe(name, definition)}\n`), { discard: true })
).pipe(
  Command.withDescription("List every setting with its description and default. Settings are environment variables.")
)
