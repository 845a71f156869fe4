/** The built site without a browser: links, blocks, `llms.txt`, and the Markdown twins of pages. */
import { existsSync } from "node:fs"
import { dirname, join, posix } from "node:path"
import { assert, describe, it } from "vitest"
import { blocksOf } from "../e2e/support/quickStart.ts"
import { blocksOfPage, documents, folder, pages, read, sources, targetsOf } from "./support/site.ts"

const twinOf = (page: string): string => page.replace(/\.html$/, ".md")

const withoutCode = (markdown: string): string =>
  markdown.replaceAll(/^([ \t]*)(`{3,}|~{3,})[^\n]*\n[^]*?^\1\2[ \t]*$/gm, "").replaceAll(/`[^`\n]+`/g, "`code`")

const linksOf = (markdown: string): ReadonlyArray<string> =>
  Array.from(withoutCode(markdown).matchAll(/\]\(([^()\s#]+)(?:#[^()\s]*)?\)/g), ([, target]) => target!)

const isRelative = (target: string): boolean => !/^[a-z][a-z+.-]*:/i.test(target)

const missing = (page: string, targets: ReadonlyArray<string>): ReadonlyArray<string> =>
  targets.filter((target) => !existsSync(join(folder, dirname(page), decodeURI(target))))

describe("pages of the site", () => {
  it("link to files that exist", () => {
    assert.isAbove(pages.length, 500)
    const faults = pages.flatMap((page) => missing(page, targetsOf(read(page))).map((target) => `${page}: ${target}`))
    assert.deepStrictEqual(faults, [])
  })

  it("load nothing of another host", () => {
    const faults = pages.filter((page) =>
      /<(?:script|img|link|iframe|source)\b[^>]*\s(?:src|href)="(?:https?:)?\/\//i.test(
        read(page).replaceAll(/<script>[^]*?<\/script>/g, "")
      )
    )
    assert.deepStrictEqual(faults, [])
  })

  it("have the icon, and a link to the API reference", () => {
    const withoutIcon = pages.filter((page) => !/<link rel="icon" href="[^"]*assets\/favicon\.svg"/.test(read(page)))
    assert.deepStrictEqual(withoutIcon, [])
    for (const page of pages.filter((page) => page !== "reference.html")) {
      const targets = targetsOf(read(page)).map((target) => posix.join(dirname(page), target))
      assert.include(targets, "reference.html", page)
    }
  })

  it("of the four roles have blocks to copy", () => {
    const contents = targetsOf(read("documents/Start.html"))
    for (const role of ["integrators", "receivers", "operators", "embedders"]) {
      assert.include(contents, `Start.For_${role}.html`)
      const html = read(`documents/Start.For_${role}.html`)
      assert.isNotEmpty(blocksOfPage(html), role)
      assert.include(targetsOf(read("index.html")), `documents/Start.For_${role}.html`)
    }
  })

  it.each(sources)("%s has the blocks of %s, byte for byte", (page, source) => {
    // These are the blocks that the tests of these pages run.
    const expected = blocksOf(source).map(({ text }) => text.trimEnd())
    assert.isNotEmpty(expected)
    assert.deepStrictEqual(
      blocksOfPage(read(page)).map((text) => text.trimEnd()),
      expected
    )
  })
})

describe("the API reference of the site", () => {
  it("has the operations of the OpenAPI document beside it", () => {
    const { paths } = JSON.parse(read("openapi.json")) as {
      readonly paths: Readonly<Record<string, Readonly<Record<string, object>>>>
    }
    const html = read("reference.html")
    assert.isAbove(Object.keys(paths).length, 30)
    for (const path of Object.keys(paths)) assert.include(html, `"${path}":{`)
  })

  it("links to the pages of the codes", () => {
    const html = read("reference.html")
    assert.notInclude(html, "(/docs/errors/")
    const linked = new Set(Array.from(html.matchAll(/\((documents\/Errors\.\w+\.html)\)/g), ([, target]) => target!))
    assert.isAbove(linked.size, 20)
    assert.deepStrictEqual(missing("reference.html", [...linked]), [])
  })

  it("has its policy in the page, which allows no other host", () => {
    const [, policy = ""] =
      /<meta http-equiv="content-security-policy" content="([^"]*)">/.exec(read("reference.html")) ?? []
    assert.include(policy, "default-src 'none'; script-src 'sha256-")
    assert.notMatch(policy, /\*|https?:|unsafe-eval|frame-ancestors/)
  })
})

describe("llms.txt and the Markdown twins", () => {
  const list = read("llms.txt")

  it("begin with the pages of the roles and the guides", () => {
    const sections = Array.from(list.matchAll(/^## (.+)$/gm), ([, name]) => name!)
    assert.deepStrictEqual(sections.slice(0, 2), ["Start", "Guides"])
    assert.includeMembers(sections, ["Errors", "Decisions", "Project", "API"])
    assert.match(list, /^# Govoice\n\n> \S/)
  })

  it("list each document of the site once, and the OpenAPI document", () => {
    const listed = linksOf(list)
    // The pages of the sections are lists themselves.
    const leaves = documents.filter((page) => /\/[^.]+\..+\.html$/.test(page))
    assert.isAbove(leaves.length, 85)
    assert.sameMembers(listed.map(decodeURI), [...leaves.map(twinOf), "openapi.json"])
    assert.deepStrictEqual(missing("llms.txt", listed), [])
  })

  it("are named by their pages", () => {
    for (const page of documents) {
      const [, twin = ""] = /<link rel="alternate" type="text\/markdown" href="([^"]+)"\/>/.exec(read(page)) ?? []
      assert.strictEqual(posix.join(dirname(page), decodeURI(twin)), twinOf(page))
      assert.match(read(twinOf(page)), /^# \S.*\n\n\S/)
    }
  })

  it("link to files that exist", () => {
    const faults = documents.flatMap((page) =>
      missing(page, linksOf(read(twinOf(page))).filter(isRelative)).map((target) => `${twinOf(page)}: ${target}`)
    )
    assert.deepStrictEqual(faults, [])
  })

  it("have the blocks of the pages", () => {
    for (const [page] of sources.filter(([page]) => page !== "index.html")) {
      const blocks = Array.from(read(twinOf(page)).matchAll(/^```\w+\n([^]*?)^```$/gm), ([, text]) => text!.trimEnd())
      assert.deepStrictEqual(
        blocksOfPage(read(page)).map((text) => text.trimEnd()),
        blocks
      )
    }
  })
})
