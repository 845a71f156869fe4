/**
 * Markdown pages use American spelling. `words.txt` has names and technical terms that the dictionary does not contain. In code,
 * comments and texts, only the variants of `variants` are rejected.
 */
import { execFileSync } from "node:child_process"
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

// British spellings, and "look-up", which is the noun "lookup". KSeF has a status "Cancelled".
const variants = /judgement|behaviour|neighbour|summaris|recognis|organis(?:e|ation)|\bis cancelled|look-up|[«»]/i

const variantsOf = (text: string): ReadonlyArray<string> =>
  text.split("\n").flatMap((line, index) => (variants.test(line) ? [`${index + 1}: ${line.trim()}`] : []))

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

  it.each(pages)("of the page %s is correct", (page) => {
    assert.deepStrictEqual(
      unknown(speller, readFileSync(join(root, page), "utf8")),
      [],
      "Correct the words or add them to test/conventions/words.txt."
    )
  })

  it("check reports misspelled words and ignores code", () => {
    assert.deepStrictEqual(
      unknown(speller, "An invioce of one colour, `recieved\nteh` and [delivred](./teh.md)\n\n```ts\nfoobarz\n```\n"),
      ["invioce", "colour", "delivred"]
    )
  })

  it("of code and its texts has no British variants", () => {
    const files = execFileSync(
      "git",
      ["ls-files", "*.ts", "*.tsx", "*.mjs", "*.md", "*.json", "*.yaml", "*.yml", "*.css"],
      {
        cwd: root,
        encoding: "utf8"
      }
    )
      .trim()
      .split("\n")
      .filter((file) => !/spelling\.test\.ts$|^pnpm-lock\.yaml$|\/src\/data\//.test(file))
    assert.isAbove(files.length, 500)
    const found = files.flatMap((file) =>
      variantsOf(readFileSync(join(root, file), "utf8")).map((line) => `${file}:${line}`)
    )
    assert.deepStrictEqual(found, [])
  })

  it("check finds British variants", () => {
    assert.deepStrictEqual(variantsOf("lookup\na look-up of\nthe judgement"), ["2: a look-up of", "3: the judgement"])
  })

  it("exceptions in words.txt are sorted", () => {
    const sorted = [...new Set(ownWords)].sort((left, right) => (left.toLowerCase() < right.toLowerCase() ? -1 : 1))
    assert.deepStrictEqual(ownWords, sorted)
  })
})
