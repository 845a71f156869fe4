/**
 * Generates `src/generated/meanings.ts` from the table of the guides. `--check` fails if it is not current.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Meanings from "../../docs/meanings.ts"

const printWidth = 120

// As the formatter breaks it. The comma of a row that is followed by another belongs to its line.
const row = (key: string, text: string, comma: string): string => {
  const [name, value] = [/^\w+$/.test(key) ? key : JSON.stringify(key), JSON.stringify(text)]
  const line = `  ${name}: ${value}${comma}`
  return line.length <= printWidth ? line : `  ${name}:\n    ${value}${comma}`
}

const table = (name: string, description: string, rows: Readonly<Record<string, string>>): string =>
  [
    `/** ${description} */`,
    `export const ${name} = {`,
    Object.entries(rows)
      .map(([key, text], index, all) => row(key, text, index < all.length - 1 ? "," : ""))
      .join("\n"),
    "} as const"
  ].join("\n")

const sentence = (text: string): string => `${text[0]!.toUpperCase()}${text.slice(1)}.`.replaceAll("`", "")

const sentences = (rows: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(rows).map(([key, text]) => [key, sentence(text)]))

/** The text of the generated file. */
export const generated = [
  [
    "/**",
    " * The meanings of statuses, event types.",
    " *",
    " * Generated from docs/meanings.ts by `generate.ts`. Do not edit.",
    " */"
  ].join("\n"),
  table("invoiceStatuses", "The meaning of each status of an invoice.", sentences(Meanings.invoiceStatuses)),
  "",
  table("deliveryStatuses", "The meaning of each status of a delivery.", sentences(Meanings.deliveryStatuses)),
  "",
  table("eventTypes", "The meaning of each event type.", sentences(Meanings.eventTypes)),
  ""
].join("\n")

const file = join(import.meta.dirname, "src/generated/meanings.ts")

if (import.meta.main) {
  if (process.argv.includes("--check")) {
    if (readFileSync(file, "utf8") !== generated) {
      console.error("meanings.ts is not current. Run `node --conditions=source apps/console/generate.ts`.")
      process.exitCode = 1
    }
  } else writeFileSync(file, generated)
}
