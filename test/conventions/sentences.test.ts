/**
 * No sentence of a comment, a page or a description begins with "Who", "Whoever", "What" or "Whatever" as its subject: CONTRIBUTING.md,
 * "Prose". Questions may.
 */
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { assert, describe, it } from "vitest"

const root = resolve(import.meta.dirname, "../..")

const begins = String.raw`(?:Who|Whoever|What|Whatever)\s[^?\n]*$`
const ofComments = new RegExp(String.raw`(?:^\s*(?://|/?\*\*?)|^\s*(?://|/?\*\*?).*[.:]|\s//)\s${begins}`)
const ofStrings = new RegExp(String.raw`(?:description: |\bit\(|describe\()["'\x60]${begins}`, "i")
const ofPages = new RegExp(String.raw`(?:^|[.:] |^- )${begins}`)

/** Returns the lines of a text with such a sentence, with their numbers. */
const findings = (text: string, patterns: ReadonlyArray<RegExp>): ReadonlyArray<string> =>
  text
    .split("\n")
    .flatMap((line, index) => (patterns.some((pattern) => pattern.test(line)) ? [`${index + 1}: ${line.trim()}`] : []))

const faults = (globs: ReadonlyArray<string>, patterns: ReadonlyArray<RegExp>): ReadonlyArray<string> => {
  const files = execFileSync("git", ["ls-files", ...globs], { cwd: root, encoding: "utf8" })
    .trim()
    .split("\n")
    .filter((file) => !/sentences\.test\.ts$|CHANGELOG\.md$/.test(file))
  assert.isAbove(files.length, 30)
  return files.flatMap((file) =>
    findings(readFileSync(join(root, file), "utf8"), patterns).map((finding) => `${file}:${finding}`)
  )
}

describe("sentences", () => {
  it("of comments, descriptions and test names have a subject", () => {
    assert.deepStrictEqual(faults(["*.ts", "*.tsx", "*.mjs"], [ofComments, ofStrings]), [])
  })

  it("of pages have a subject", () => {
    assert.deepStrictEqual(faults(["*.md"], [ofPages]), [])
  })

  it("without one are found", () => {
    const code = [
      "// What is left is written.",
      "const a = 1 // What is left.",
      " * One. What is left is written.",
      '  it("what is left is written", () => {',
      '  description: "What is left."',
      "// Whoever is left is served.",
      "// What is left? Nothing.",
      'const title = "What is Govoice?"'
    ].join("\n")
    assert.deepStrictEqual(
      findings(code, [ofComments, ofStrings]).map((finding) => finding.slice(0, 1)),
      ["1", "2", "3", "4", "5", "6"]
    )
    assert.deepStrictEqual(findings("- What is left is written.\nWhat is left?", [ofPages]), [
      "1: - What is left is written."
    ])
  })
})
