/**
 * `govoice settings`: every environment variable that means something to Govoice, from the table that reads them.
 *
 * @since 0.1.0
 */
import { Console, Effect } from "effect"
import { Command } from "effect/cli"
import { definitions } from "../settings/Settings.ts"

interface Described {
  readonly about: string
  readonly default: unknown
  readonly defaultAbout?: string
}

const describe = (name: string, definition: Described): string =>
  [name, `  ${definition.about}`, `  Default: ${definition.defaultAbout ?? String(definition.default)}`].join("\n")

/**
 * The command.
 *
 * @category constructors
 * @since 0.1.0
 */
export const settings = Command.make("settings", {}, () =>
  Effect.forEach(Object.entries(definitions), ([name, definition]) => Console.log(`${describe(name, definition)}\n`), {
    discard: true
  })
).pipe(Command.withDescription("List every setting: what it decides, and its default. All are environment variables."))
