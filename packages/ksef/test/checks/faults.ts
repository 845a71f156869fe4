/**
 * Broken documents: copies of a valid one with one fault each, and where a reader sees the fault.
 */

/** A broken document. */
export interface Fault {
  readonly name: string
  readonly xml: string
  /** Where the elements begin that a reader would point at: one, or two in the wrong order. */
  readonly indexes: ReadonlyArray<number>
}

interface Line {
  readonly text: string
  readonly name: string
  readonly value: string | undefined
}

const lineOf = (text: string): Line => {
  const [, name = "", value] = /^\s*<([A-Za-z0-9_]+)[^>]*>(?:([^<]*)<\/)?/.exec(text) ?? []
  return { text, name, value }
}

// Makes wrong values from a value, by the type that it appears to have without the schema.
const wrongValues = (value: string): Readonly<Record<string, string>> => ({
  empty: "",
  ...(/^\d+\.\d\d$/.test(value)
    ? {
        "decimal comma": value.replace(".", ","),
        "nine decimals": `${value}1234567`,
        thousands: `1 ${value}`,
        word: "sto"
      }
    : {}),
  ...(/^\d{4}-\d\d-\d\d$/.test(value)
    ? { "day first": value.split("-").toReversed().join("."), "month 13": "2026-13-01" }
    : {}),
  ...(/^\d{4}-\d\d-\d\dT/.test(value) ? { "no T": value.replace("T", " "), "date only": value.slice(0, 10) } : {}),
  ...(/^\d{10}$/.test(value) ? { "with PL": `PL${value}`, "with hyphens": value.replace(/(...)(...)/, "$1-$2-") } : {}),
  ...(/^[12]$/.test(value) ? { boolean: "true" } : {}),
  ...(/^[A-Z_]{2,6}$/.test(value) ? { lowercase: value.toLowerCase(), "unknown code": "XQ" } : {}),
  ...(/[a-zł]{3}/.test(value) ? { long: "x".repeat(600) } : {})
})

const replaced = (lines: ReadonlyArray<string>, at: number, ...by: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...lines.slice(0, at),
  ...by,
  ...lines.slice(at + 1)
]

const fault = (name: string, lines: ReadonlyArray<string>, ...at: ReadonlyArray<number>): Fault => {
  const indexOf = (line: number): number =>
    lines.slice(0, line).reduce((length, { length: more }) => length + more + 1, 0) + lines[line]!.indexOf("<")
  return { name, xml: lines.join("\n"), indexes: at.map(indexOf) }
}

/** Makes broken documents from one that has an element on each line. Some turn out to be valid: what was left out is optional. */
export const make = (xml: string): ReadonlyArray<Fault> => {
  const lines = xml.split("\n")
  const found: Array<Fault> = []
  for (const [at, text] of lines.entries()) {
    const { name, value } = lineOf(text)
    if (name === "" || name === "Faktura") continue
    if (value === undefined) {
      found.push(fault(`${name}: text`, replaced(lines, at, `${text}text`), at))
      found.push(fault(`${name}: unknown attribute`, replaced(lines, at, text.replace(">", ' extra="1">')), at))
      found.push(fault(`${name}: unknown element`, replaced(lines, at, text, "<Nieznany>1</Nieznany>"), at + 1))
      continue
    }
    for (const [kind, wrong] of Object.entries(wrongValues(value))) {
      found.push(fault(`${name}: ${kind}`, replaced(lines, at, text.replace(`>${value}<`, `>${wrong}<`)), at))
    }
    found.push(fault(`${name}: misspelled`, replaced(lines, at, text.replaceAll(name, `${name}x`)), at))
    found.push(fault(`${name}: twice`, replaced(lines, at, text, text), at + 1))
    found.push(fault(`${name}: contains an element`, replaced(lines, at, text.replace(">", "><b/>")), at))
    const next = lines[at + 1] ?? ""
    if (!next.trimStart().startsWith("</")) {
      found.push(fault(`${name}: left out`, replaced(lines, at), at))
      if (lineOf(next).value !== undefined) {
        found.push(fault(`${name}: after its successor`, replaced(replaced(lines, at, next), at + 1, text), at, at + 1))
      }
    }
  }
  return found
}
