/**
 * Generated blocks of a page. Each is between two comments with its name:
 *
 *     <!-- printed by docs/diagrams.ts: name -->
 *     <!-- end of name -->
 */

const begin = (name: string): string => `<!-- printed by docs/diagrams.ts: ${name} -->\n`
const end = (name: string): string => `<!-- end of ${name} -->`

/** Returns the names of the blocks of a page, in order. */
export const names = (page: string): ReadonlyArray<string> =>
  Array.from(page.matchAll(/<!-- printed by docs\/diagrams\.ts: (?<name>.+) -->/g), ({ groups }) => groups!["name"]!)

/** Replaces the content of the block `name` of a page. An empty content leaves the comments alone. */
export const fill = (page: string, name: string, body: string): string => {
  const from = page.indexOf(begin(name))
  const to = page.indexOf(end(name), from)
  if (from === -1 || to === -1) throw new Error(`The page has no block "${name}"`)
  const content = body === "" ? "" : `\n${body}\n\n`
  return `${page.slice(0, from)}${begin(name)}${content}${page.slice(to)}`
}

/** Returns a Markdown table, padded like the formatter pads it. */
export const table = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const widths = head.map((cell, column) =>
    Math.max(3, ...[head, ...rows].map((row) => row[column]!.length), cell.length)
  )
  const line = (cells: ReadonlyArray<string>): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column]!)).join(" | ")} |`
  return [line(head), line(widths.map((width) => "-".repeat(width))), ...rows.map(line)].join("\n")
}

/** Returns a code span, or a dash for an empty value. */
export const code = (text: string | null): string => (text === null ? "–" : `\`${text}\``)
