/**
 * Mutated documents: seeded edits of bytes, tags and values, of which some leave the document well-formed.
 */
import * as fc from "fast-check"
import { documents } from "./documents.ts"

const insertions = [
  "<",
  ">",
  "&",
  "&amp;",
  "</P_2>",
  "<P_2>",
  "<b/>",
  "<!-- -->",
  "<![CDATA[x]]>",
  "<?a b?>",
  ' xmlns="urn:a"',
  ' a="b"',
  "\u0000",
  "\u0086",
  "\uFEFF",
  "\uD800",
  "ż",
  "🔑",
  ",",
  ".",
  "-",
  "0",
  "9999999999",
  "\r\n",
  " ",
  "x".repeat(1000)
] as const

const cut = (xml: string, from: number, length: number, by: string): string =>
  xml.slice(0, from) + by + xml.slice(from + length)

const lines = fc.tuple(fc.nat(), fc.nat(), fc.constantFrom("drop", "double", "swap", "empty"))

const editLine = (xml: string, [first, second, kind]: readonly [number, number, string]): string => {
  const all = xml.split("\n")
  const [a, b] = [first % all.length, second % all.length]
  if (kind === "drop") all.splice(a, 1)
  else if (kind === "double") all.splice(a, 0, all[a]!)
  else if (kind === "empty") all[a] = all[a]!.replace(/>[^<]*</, "><")
  else [all[a], all[b]] = [all[b]!, all[a]!]
  return all.join("\n")
}

/** A document with one to three mutations. */
export const mutated: fc.Arbitrary<string> = fc
  .tuple(
    fc.constantFrom(...Object.values(documents)),
    fc.array(
      fc.oneof(
        lines.map((edit) => (xml: string) => editLine(xml, edit)),
        fc.tuple(fc.nat(), fc.nat(20), fc.oneof(fc.constantFrom(...insertions), fc.string({ maxLength: 8 }))).map(
          ([at, length, by]) =>
            (xml: string) =>
              cut(xml, at % xml.length, length, by)
        )
      ),
      { minLength: 1, maxLength: 3 }
    )
  )
  .map(([xml, edits]) => edits.reduce((edited, edit) => edit(edited), xml))
