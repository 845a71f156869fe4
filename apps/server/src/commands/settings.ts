/** `govoice settings`: prints every setting. */
import { Console, Effect } from "effect"
import { type Definition, definitions } from "../settings/definitions.ts"

const describe = (name: string, definition: Definition<unknown>): string =>
  [
    name,
    `  ${definition.description.replaceAll("`", "")}`,
    ...(definition.secret === true ? [`  Secret: never printed. Can be in a file, which ${name}_FILE names.`] : []),
    `  Default: ${(definition.defaultText ?? String(definition.default)).replaceAll("`", "")}`
  ].join("\n")

const all: ReadonlyArray<readonly [string, Definition<unknown>]> = Object.entries(definitions)

/** Prints name, description and default of each. */
export const list = Effect.forEach(all, ([name, definition]) => Console.log(`${describe(name, definition)}\n`), {
  discard: true
})
