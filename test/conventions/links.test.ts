/**
 * Every relative link names an existing file or folder, and every anchor one of its headings. External links are not checked.
 */
import { existsSync, globSync, readFileSync, statSync } from "node:fs"
import { dirname, join, relative, resolve } from "node:path"
import { assert, describe, it } from "vitest"

const root = resolve(import.meta.dirname, "../..")

const pages = globSync(
  ["*.md", "docs/{guides,errors,decisions,contents}/*.md", "{packages,apps,examples,bench}/**/README.md"],
  { cwd: root, exclude: (path) => /node_modules|dist/.test(path) }
).sort()

const withoutCode = (text: string): string =>
  text
    .replaceAll(/^([ \t]*)(`{3,}|~{3,})[^\n]*\n[^]*?^\1\2[ \t]*$/gm, "")
    .replaceAll(/`[^`\n]+`/g, (code) => code.replaceAll(/[[\]()]/g, "_"))

/** Returns the anchors of a page, as GitHub and the site derive them from headings. */
const anchors = (text: string): ReadonlySet<string> => {
  const found = new Set<string>()
  for (const [, heading] of withoutCode(text).matchAll(/^#{1,6} +(.+?) *#*$/gm)) {
    const words = heading!.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").replaceAll(/[`*]/g, "")
    const slug = words
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\p{M}_\- ]/gu, "")
      .replaceAll(" ", "-")
    let anchor = slug
    for (let copy = 1; found.has(anchor); copy++) anchor = `${slug}-${copy}`
    found.add(anchor)
  }
  return found
}

/** Returns the targets of the links of a page, in text and in front matter. */
const links = (text: string): ReadonlyArray<string> => [
  ...Array.from(withoutCode(text).matchAll(/\]\(([^()\s]+)(?: "[^"]*")?\)/g), ([, target]) => target!),
  ...Array.from((/^---\n([^]*?)\n---\n/.exec(text)?.[1] ?? "").matchAll(/^ {2}.+: (\.\S+)$/gm), ([, target]) => target!)
]

const isElsewhere = (target: string): boolean => /^[a-z][a-z+.-]*:/i.test(target)

const fault = (page: string, target: string): string | undefined => {
  const [path = "", anchor] = decodeURI(target).split("#")
  const file = path === "" ? join(root, page) : resolve(root, dirname(page), path)
  if (relative(root, file).startsWith("..")) return "leaves the repository"
  if (!existsSync(file)) return "does not exist"
  if (anchor === undefined) return undefined
  const read = statSync(file).isDirectory() ? join(file, "README.md") : file
  return existsSync(read) && anchors(readFileSync(read, "utf8")).has(anchor) ? undefined : "has no such heading"
}

describe("links", () => {
  it.each(pages)("of the page %s resolve", (page) => {
    const targets = links(readFileSync(join(root, page), "utf8")).filter((target) => !isElsewhere(target))
    const faults = targets.flatMap((target) => {
      const why = fault(page, target)
      return why === undefined ? [] : [`${target} ${why}`]
    })
    assert.deepStrictEqual(faults, [])
  })

  it("are found in text and not in code", () => {
    const text =
      '---\nchildren:\n  A: ./a.md\n---\n[b](./b.md#c) `[d](./d.md)`\n```md\n[e](./e.md)\n```\n[`f`](f "F")\n'
    assert.sameMembers([...links(text)], ["./a.md", "./b.md#c", "f"])
  })

  it("that do not resolve are reported", () => {
    assert.strictEqual(fault("README.md", "docs/nothing.md"), "does not exist")
    assert.strictEqual(fault("README.md", "README.md#nothing"), "has no such heading")
    assert.strictEqual(fault("README.md", "../elsewhere"), "leaves the repository")
    assert.isUndefined(fault("README.md", "#govoice"))
  })

  it("use anchors like GitHub", () => {
    assert.deepStrictEqual(
      [...anchors("# A `b`: c & d\n## A b c  d\n## x\n## x\n")],
      ["a-b-c--d", "a-b-c--d-1", "x", "x-1"]
    )
  })
})

describe("the contents of the site", () => {
  const contents = (name: string) => links(readFileSync(join(root, `docs/contents/${name}.md`), "utf8"))

  it.each([
    [["Start", "Guides"], "guides"],
    [["Errors"], "errors"],
    [["Decisions"], "decisions"]
  ])("%j list every page of docs/%s", (names, folder) => {
    const listed = new Set(names.flatMap(contents))
    const missing = globSync(`${folder}/*.md`, { cwd: join(root, "docs") }).filter((page) => !listed.has(`../${page}`))
    assert.deepStrictEqual(missing, [])
  })
})
