import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { ErrorCatalogue } from "../../packages/core/src/index.ts"

const folder = join(import.meta.dirname, "../../docs/errors")
const { catalogue, codes } = ErrorCatalogue

const read = (file: string): string => readFileSync(join(folder, file), "utf8")

// The text under a heading, up to the next one.
const section = (page: string, heading: string): string =>
  page
    .split(/^## /m)
    .find((part) => part.startsWith(`${heading}\n`))
    ?.slice(heading.length)
    .trim() ?? ""

describe("docs/errors", () => {
  it("has a page for every code, an index, and nothing else", () => {
    assert.deepStrictEqual(readdirSync(folder).sort(), ["README.md", ...codes.map((code) => `${code}.md`)].sort())
  })

  it.each(codes)("%s: the page has its name, and its row of the catalogue", (code) => {
    const page = read(`${code}.md`)
    const { param, retryable, status, type } = catalogue[code]
    assert.isTrue(page.startsWith(`# \`${code}\`\n`))
    const cells = page
      .split("\n")
      .find((line) => line.startsWith(`| ${status} `))!
      .split("|")
      .map((cell) => cell.trim().replaceAll("`", ""))
    assert.deepStrictEqual(cells.slice(1, -1), [
      String(status),
      type,
      param === null ? "–" : param === "*" ? "the one at fault" : param,
      retryable ? "yes" : "no"
    ])
    assert.include(page, `\n${catalogue[code].message}\n`)
  })

  it.each(codes)("%s: the page says what it means, where it comes from and what to do", (code) => {
    const page = read(`${code}.md`)
    assert.isAbove(section(page, "What it means").length, 60)
    assert.match(section(page, "Causes"), /^- \S.{20}/)
    assert.isAbove(section(page, "What to do").length, 60)
    for (const heading of ["What it means", "Causes", "What to do"]) {
      assert.isAtMost(section(page, heading).split("\n").length, 8)
    }
  })

  it.each(codes)("%s: the page tells to try again where that may help", (code) => {
    const remedy = section(read(`${code}.md`), "What to do")
    if (catalogue[code].retryable) assert.match(remedy, /again|retry|wait|later/i)
  })

  it("lists every code in the index, in the order of the catalogue", () => {
    const linked = Array.from(
      read("README.md").matchAll(/\[`(?<code>\w+)`\]\(\.\/\k<code>\.md\)/g),
      ({ groups }) => groups!["code"]!
    )
    assert.deepStrictEqual(linked, [...codes])
  })

  it("links to pages that exist", () => {
    for (const file of readdirSync(folder)) {
      for (const { groups } of read(file).matchAll(/\]\((?<target>\.[^)#]+)\)/g)) {
        assert.doesNotThrow(() => read(groups!["target"]!), `${file} links to ${groups!["target"]}`)
      }
    }
  })
})
