/**
 * Blocks of a page that a script prints and nobody edits. Each stands between two comments that name it:
 *
 *     <!-- printed by docs/diagrams.ts: name -->
 *     <!-- end of name -->
 */

const begin = (name: string): string => `<!-- printed by docs/diagrams.ts: ${name} -->\n`
const end = (name: string): string => `<!-- end of ${name} -->`

/** The names of the blocks that a page has room for, in their order. */
export const names = (page: string): ReadonlyArray<string> =>
  Array.from(page.matchAll(/<!-- printed by docs\/diagrams\.ts: (?<name>.+) -->/g), ({ groups }) => groups!["name"]!)

/** Puts `body` into the block `name` of a page, in place of what stood there. */
export const fill = (page: string, name: string, body: string): string => {
  const from = page.indexOf(begin(name))
  const to = page.indexOf(end(name), from)
  if (from === -1 || to === -1) throw new Error(`There is no block "${name}"`)
  return `${page.slice(0, from)}${begin(name)}\n${body}\n\n${page.slice(to)}`
}

/** A table, padded the way the formatter does it. */
export const table = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const widths = head.map((cell, column) =>
    Math.max(3, ...[head, ...rows].map((row) => row[column]!.length), cell.length)
  )
  const line = (cells: ReadonlyArray<string>): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column]!)).join(" | ")} |`
  return [line(head), line(widths.map((width) => "-".repeat(width))), ...rows.map(line)].join("\n")
}

/** A code span, or a dash where there is nothing. */
export const code = (text: string | null): string => (text === null ? "–" : `\`${text}\``)
