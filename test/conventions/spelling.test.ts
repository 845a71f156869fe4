/**
 * Markdown pages use American spelling. `words.txt` has names and technical terms that the dictionary does not contain. Code is
 * not checked.
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
const dictionary = join(require.resolve("dictionary-en"), "..")

const pages = globSync(
  ["*.md", "docs/{roles,guides,errors,decisions,contents}/*.md", "{packages,apps,examples,bench}/**/README.md"],
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

/** Returns the unknown words of a page, once each. */
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
      "Correct the words or add them to test/conventions/words.txt."
    )
  })

  it("reports misspelled words and ignores code", () => {
    assert.deepStrictEqual(
      unknown(speller, "An invioce of one colour, `recieved\nteh` and [delivred](./teh.md)\n\n```ts\nfoobarz\n```\n"),
      ["invioce", "colour", "delivred"]
    )
  })

  it("words.txt is sorted", () => {
    const sorted = [...new Set(ownWords)].sort((left, right) => (left.toLowerCase() < right.toLowerCase() ? -1 : 1))
    assert.deepStrictEqual(ownWords, sorted)
  })
})
