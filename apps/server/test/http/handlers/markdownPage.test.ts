/** The pages of the documentation in HTML. */
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import * as markdownPage from "../../../src/http/handlers/markdownPage.ts"

const mainOf = (markdown: string, folder: "errors" | "guides" = "guides"): string =>
  /<main>\n([^]*)\n<\/main>/.exec(markdownPage.make(markdown, folder))![1]!

describe("a page of Markdown", () => {
  it.each([
    ["# `code` & more", '<h1 id="code--more"><code>code</code> &amp; more</h1>'],
    ["One\nparagraph.\n\nAnother.", "<p>One paragraph.</p>\n<p>Another.</p>"],
    [
      "**Set `a < b`.** Then `**not bold**`.",
      "<p><strong>Set <code>a &lt; b</code>.</strong> Then <code>**not bold**</code>.</p>"
    ],
    [
      "1. One\n\n   ```sh\n   run <it>\n   ```\n\n2. Two",
      '<ol><li>One<pre tabindex="0"><code>run &lt;it&gt;</code></pre></li><li>Two</li></ol>'
    ],
    ["- a\n  b\n- c", "<ul><li>a b</li><li>c</li></ul>"],
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

  it("leaves nothing of the language of a guide or an error behind", () => {
    const docs = join(import.meta.dirname, "../../../../../docs")
    for (const folder of ["errors", "guides"] as const)
      for (const file of globSync(`${folder}/*.md`, { cwd: docs })) {
        const html = mainOf(readFileSync(join(docs, file), "utf8"), folder)
        const words = html.replaceAll(/<pre[^]*?<\/pre>|<code>[^]*?<\/code>/g, "")
        assert.notMatch(words, /\*\*|\]\(|```|^[#|>]|<!--/m, file)
      }
  })
})
