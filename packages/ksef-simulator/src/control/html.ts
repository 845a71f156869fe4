/**
 * HTML that is rendered on the server.
 */

/** Text that is written as it stands. Everything else is escaped. */
export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** What a page is made of. */
export type Part = Html | string | number | ReadonlyArray<Html>

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;"
}

const escaped = (part: Part): string => {
  if (part instanceof Html) return part.text
  if (typeof part === "object") return part.map(({ text }) => text).join("")
  return String(part).replaceAll(/[&<>"']/g, (character) => entities[character]!)
}

/** Writes a part of a page. */
export const html = (strings: TemplateStringsArray, ...parts: ReadonlyArray<Part>): Html =>
  new Html(strings.reduce((all, string, index) => `${all}${escaped(parts[index - 1] ?? "")}${string}`))
