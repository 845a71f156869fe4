/** The diagrams of the guides, as the site and the server show them. */
import { globSync, readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { assert, describe, it } from "vitest"
import { drawDiagrams, file, path } from "../../docs/drawing.ts"

const root = resolve(import.meta.dirname, "../..")

const escape = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;")

const diagrams = globSync("docs/**/*.md", { cwd: root }).flatMap((page) =>
  Array.from(readFileSync(join(root, page), "utf8").matchAll(/^```mermaid\n([^]*?)^```$/gm), ([, source]) => ({
    page,
    source: source!
  }))
)

const draw = (source: string): string =>
  drawDiagrams(
    `<p>before</p><pre><code class="mermaid">${escape(source.trimEnd())}\n</code><button>Copy</button></pre>`
  )

const boxesOf = (source: string): ReadonlyArray<string> => [
  ...Array.from(source.matchAll(/^\s*\w+\["(\w+)/gm), ([, title]) => title!),
  ...Array.from(source.matchAll(/^\s*(\w+) --> /gm), ([, status]) => status!)
]

describe("The drawings of the site", () => {
  it("are those of the server", () => {
    assert.strictEqual(readFileSync(path, "utf8"), file(), "run docs/drawing.ts")
  })

  it("replace every Mermaid diagram of the guides", () => {
    assert.isAtLeast(diagrams.length, 2)
    for (const { page, source } of diagrams) {
      const drawn = draw(source)
      assert.match(drawn, /^<p>before<\/p><figure class="drawing"><svg role="img" aria-label="[^"]+"/, page)
      assert.notInclude(drawn, "mermaid", page)
    }
  })

  it("have every box and arrow of their diagram, and only colors of the page", () => {
    for (const { page, source } of diagrams) {
      const drawn = draw(source)
      for (const box of boxesOf(source)) assert.match(drawn, new RegExp(`<text [^>]*>${box}</text>`), page)
      const arrows = source.match(/ -->/g)!
      assert.strictEqual(drawn.match(/class="edge"/g)!.length, arrows.length, page)
      const colors = drawn.matchAll(/(?:fill|stroke)="([^"]+)"/g)
      assert.sameMembers([...new Set(Array.from(colors, ([, color]) => color!))], ["none", "currentColor"], page)
    }
  })
})
