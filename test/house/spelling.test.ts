/**
 * The prose of this repository is spelled as in a British dictionary, or as in `words.txt` beside this file: names, and terms
 * that a dictionary does not know. Code is not looked at.
 */
import { globSync, readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { join, resolve } from "node:path"
import { assert, beforeAll, describe, it } from "vitest"

interface Speller {
  readonly correct: (word: string) => boolean
  readonly suggest: (word: string) => ReadonlyArray<string>
  readonly add: (word: string) => void
}

const require = createRequire(import.meta.url)
const root = resolve(import.meta.dirname, "../..")
const dictionary = join(require.resolve("dictionary-en-gb"), "..")

const pages = globSync(
  ["*.md", "docs/{guides,errors,decisions,contents}/*.md", "{packages,apps,examples,bench}/**/README.md"],
  {
    cwd: root,
    exclude: (path) => /node_modules|dist/.test(path)
  }
).sort()

const ownWords = readFileSync(join(import.meta.dirname, "words.txt"), "utf8")
  .split("\n")
  .filter(Boolean)

const prose = (text: string): string =>
  text
    .replaceAll(/^---\n[^]*?\n---\n/g, "")
    .replaceAll(/^([ \t]*)(`{3,}|~{3,})[^\n]*\n[^]*?^\1\2[ \t]*$/gm, "")
    .replaceAll(/``[^]*?``|`(?:[^`\n]|\n(?!\n))*`/g, " ")
    .replaceAll(/<[^>\n]*>/g, " ")
    .replaceAll(/\]\([^)\s]*\)/g, "] ")
    .replaceAll(/https?:\S+|@[\w-]+\/[\w-]+|[\w./-]+\.\w{2,4}\b|\w*_\w*/g, " ")

/** The words of a page that nobody knows, once each. */
const unknown = (speller: Speller, text: string): ReadonlyArray<string> => {
  const words = prose(text).match(/\p{L}+(?:[’']\p{L}+)*/gu) ?? []
  return [...new Set(words)].filter((word) => {
    const plain = word.replaceAll("’", "'")
    // Abbreviations, and single letters.
    if (plain.length === 1 || /^\p{Lu}{2,}s?$/u.test(plain)) return false
    return (
      !speller.correct(plain) && !speller.correct(plain.toLowerCase()) && !speller.correct(plain.replace(/'s$/, ""))
    )
  })
}

describe("spelling", () => {
  let speller: Speller
  beforeAll(() => {
    const nspell = require("nspell") as (aff: Buffer, dic: Buffer) => Speller
    speller = nspell(readFileSync(join(dictionary, "index.aff")), readFileSync(join(dictionary, "index.dic")))
    for (const word of ownWords) speller.add(word)
  })

  it.each(pages)("of %s", (page) => {
    assert.deepStrictEqual(
      unknown(speller, readFileSync(join(root, page), "utf8")),
      [],
      "correct the words, or add them to test/house/words.txt"
    )
  })

  it("sees mistakes, and not code", () => {
    assert.deepStrictEqual(
      unknown(speller, "An invioce `recieved\nteh` and [delivred](./teh.md)\n\n```ts\nfoobarz\n```\n"),
      ["invioce", "delivred"]
    )
  })

  it("keeps its own words in order", () => {
    const sorted = [...new Set(ownWords)].sort((left, right) => (left.toLowerCase() < right.toLowerCase() ? -1 : 1))
    assert.deepStrictEqual(ownWords, sorted)
  })
})
