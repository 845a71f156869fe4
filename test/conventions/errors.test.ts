import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { ErrorCatalog } from "../../packages/core/src/index.ts"

const folder = join(import.meta.dirname, "../../docs/errors")
const { catalog, codes } = ErrorCatalog

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

  it.each(codes)("%s: the title is the code, and the head matches the catalog", (code) => {
    const page = read(`${code}.md`)
    const { param, retryable, status, type } = catalog[code]
    assert.isTrue(page.startsWith(`# \`${code}\`\n`))
    const at = param === null ? "" : `, param ${param === "*" ? "the one at fault" : `\`${param}\``}`
    assert.include(page, `\nStatus ${status}, type \`${type}\`${at}, ${retryable ? "retryable" : "not retryable"}.\n`)
    assert.include(page, `\n${catalog[code].message}\n`)
  })

  it.each(codes)("%s: the page has its three sections", (code) => {
    const page = read(`${code}.md`)
    assert.isAbove(section(page, "What it means").length, 60)
    assert.match(section(page, "Causes"), /^- \S.{20}/)
    assert.isAbove(section(page, "What to do").length, 60)
    for (const heading of ["What it means", "Causes", "What to do"]) {
      assert.isAtMost(section(page, heading).split("\n").length, 8)
    }
  })

  it.each(codes)("%s: the page mentions retries if the code is retryable", (code) => {
    const remedy = section(read(`${code}.md`), "What to do")
    if (catalog[code].retryable) assert.match(remedy, /again|retry|wait|later/i)
  })

  it("lists every code in the index, in the order of the catalog", () => {
    const linked = Array.from(
      read("README.md").matchAll(/\[`(?<code>\w+)`\]\(\.\/\k<code>\.md\)/g),
      ({ groups }) => groups!["code"]!
    )
    assert.deepStrictEqual(linked, [...codes])
  })

  it("links to existing pages", () => {
    for (const file of readdirSync(folder)) {
      for (const { groups } of read(file).matchAll(/\]\((?<target>\.[^)#]+)\)/g)) {
        assert.doesNotThrow(() => read(groups!["target"]!), `${file} links to ${groups!["target"]}`)
      }
    }
  })
})
