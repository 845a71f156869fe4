/**
 * A file has at most 400 lines, or its first comment says why it is one file. Modules of the server have no `@since` and
 * no `@category`: no documentation is generated from them.
 */
import { globSync, readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { assert, describe, it } from "vitest"

const root = resolve(import.meta.dirname, "../..")

const maxLines = 400

const sources = globSync(
  "{{apps,packages,examples}/*/{src,test},test,bench,docs,release}/**/*.{ts,tsx,mts,mjs,js,sql,css}",
  { cwd: root, exclude: (path) => /(?:^|[/\\])(?:node_modules|dist|docs[/\\]api)$/.test(path) }
)

const textOf = (path: string): string => readFileSync(join(root, path), "utf8")

const firstComment = (text: string): string => /^\/\*\*[^]*?\*\//.exec(text)?.[0] ?? ""

describe("Source files", () => {
  it("have at most 400 lines, or a reason in their first comment", () => {
    assert.isAbove(sources.length, 500)
    const long = sources.filter((path) => {
      const text = textOf(path)
      return text.split("\n").length - 1 > maxLines && !/\b(?:one file|generated)\b/i.test(firstComment(text))
    })
    assert.deepStrictEqual(long, [])
  })

  it("of the server have no tags of a documentation that is not generated", () => {
    const tagged = sources.filter(
      (path) => path.startsWith(join("apps", "server", "src")) && /^\s*\*\s+@(?:since|category)\b/m.test(textOf(path))
    )
    assert.deepStrictEqual(tagged, [])
  })
})
