/** The pages of the documentation in HTML. */
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import * as markdownPage from "../../../src/http/handlers/markdownPage.ts"

const mainOf = (markdown: string, folder: "errors" | "guides" = "guides"): string =>
  /<main>\n([^]*)\n<\/main>/.exec(markdownPage.make(markdown, folder))![1]!.trim()

describe("a page of Markdown", () => {
  it.each([
    ["# `code` & more", '<h1 id="code--more"><code>code</code> &amp; more</h1>'],
    ["```sh\nrun <it>\n```", '<pre tabindex="0"><code>run &lt;it&gt;</code></pre>'],
    [
      "<details>\n<summary>PHP</summary>\n\nText\n\n</details>",
      "<details>\n<summary>PHP</summary><p>Text</p>\n</details>"
    ],
    ["```text\nA message\n```", '<pre class="text" tabindex="0"><code>A message</code></pre>'],
    [
      "| a | b | c |\n| - | - | - |\n| 1 | 2 | 3 |",
      '<div class="table wide" tabindex="0"><table role="table"><thead role="rowgroup"><tr role="row"><th role="columnheader">a</th><th role="columnheader">b</th><th role="columnheader">c</th></tr></thead><tbody role="rowgroup"><tr role="row"><td role="cell" data-label="a">1</td><td role="cell" data-label="b">2</td><td role="cell" data-label="c">3</td></tr></tbody></table></div>'
    ],
    ["![a picture](images/a.png)", "<p></p>"],
    [
      "| a | b |\n| - | - |\n| `x\\|y` | 2 |",
      '<div class="table" tabindex="0"><table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td><code>x|y</code></td><td>2</td></tr></tbody></table></div>'
    ],
    ["<!-- from a generator -->\n\nText", "<p>Text</p>"]
  ])("renders %j", (markdown, html) => {
    assert.strictEqual(mainOf(markdown), html)
  })

  it.each([
    ["concepts.md#events", "/docs/guides/concepts#events"],
    ["../errors/not_found.md", "/docs/errors/not_found"],
    ["../errors/README.md", "/docs/guides/errors"],
    ["#part", "#part"],
    ["https://example.com/a", "https://example.com/a"],
    ["http://127.0.0.1:3000/console", "http://127.0.0.1:3000/console"],
    ["../../packages/client/README.md", undefined],
    ["../decisions/0001-x.md", undefined],
    ["javascript:x", undefined]
  ])("leads from %s to %s", (link, address) => {
    assert.strictEqual(
      mainOf(`[here](${link})`),
      address === undefined ? "<p>here</p>" : `<p><a href="${address}">here</a></p>`
    )
  })

  it("takes links of the pages of errors from their folder", () => {
    assert.strictEqual(mainOf("[a](not_found.md)", "errors"), '<p><a href="/docs/errors/not_found">a</a></p>')
  })

  it("shows the diagrams of a guide as drawings", () => {
    const html = mainOf(readFileSync(join(import.meta.dirname, "../../../../../docs/guides/concepts.md"), "utf8"))
    assert.lengthOf(html.match(/<figure class="drawing"><svg /g)!, 2)
    assert.notInclude(html, "stateDiagram")
  })

  it("leaves nothing of the language of a guide or an error behind", () => {
    const docs = join(import.meta.dirname, "../../../../../docs")
    for (const folder of ["errors", "guides"] as const)
      for (const file of globSync(`${folder}/*.md`, { cwd: docs })) {
        const html = mainOf(readFileSync(join(docs, file), "utf8"), folder)
        const words = html.replaceAll(/<pre[^]*?<\/pre>|<code>[^]*?<\/code>/g, "")
        assert.notMatch(words, /\*\*|\]\(|```|^[#|>]|<!--/m, file)
      }
  })

  it("takes the declarations of the typeface from the console, with files that the server has", () => {
    const addresses = Array.from(
      markdownPage.make("# A", "guides").matchAll(/url\("([^"]+)"\)/g),
      ([, address]) => address
    )
    assert.deepStrictEqual(
      addresses,
      ["latin", "latin-ext"].map((letters) => `/docs/typeface/hanken-grotesk-${letters}-wght-normal.woff2`)
    )
  })
})
