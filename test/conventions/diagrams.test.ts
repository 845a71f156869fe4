import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { fill, names } from "../../docs/blocks.ts"
import { pages, print, read } from "../../docs/diagrams.ts"
import { stateDiagram } from "../../docs/stateDiagram.ts"

describe("generated pages", () => {
  it.each(pages.map((page) => [page.path, page] as const))("docs/%s is current (run docs/diagrams.ts)", (_, page) => {
    assert.strictEqual(read(page), print(page, read(page)))
  })

  it.each(pages.map((page) => [page.path, page] as const))(
    "docs/%s has a place for each of its blocks and no other",
    (_, page) => {
      assert.deepStrictEqual([...names(read(page))].sort(), Object.keys(page.blocks).sort())
    }
  )

  // Compares the edges of the diagrams with the transitions.
  it("contain every transition of invoices and deliveries", () => {
    const page = readFileSync(join(import.meta.dirname, "../../docs/guides/concepts.md"), "utf8")
    const diagrams = Array.from(page.matchAll(/```mermaid\n(?<diagram>[^]*?)```/g), ({ groups }) => groups!["diagram"]!)
    assert.deepStrictEqual(
      diagrams.map((diagram) => diagram.match(/-->/g)!.length),
      [16, 15]
    )
    assert.include(diagrams[0], "[*] --> queued: arrives (invoice.received)")
    assert.include(diagrams[0], "submitting --> submitted: submit (invoice.submitted)")
    assert.include(diagrams[1], "delivering --> failed: fail, block")
    assert.include(diagrams[1], "endpoint_disabled --> [*]")
  })
})

describe("fill, which writes a block of a page,", () => {
  const page = "a\n<!-- printed by docs/diagrams.ts: x -->\nold\n<!-- end of x -->\nb\n"

  it("replaces the text between the marks only", () => {
    const filled = "a\n<!-- printed by docs/diagrams.ts: x -->\n\nnew\n\n<!-- end of x -->\nb\n"
    assert.strictEqual(fill(page, "x", "new"), filled)
    assert.strictEqual(fill(filled, "x", "new"), filled)
  })

  it("refuses a page without the marks", () => {
    assert.throws(() => fill(page, "y", "new"), 'The page has no block "y"')
    assert.throws(() => fill(page.replace("<!-- end of x -->", ""), "x", "new"))
  })
})

describe("stateDiagram", () => {
  it("shares an arrow between triggers that lead to the same status", () => {
    assert.strictEqual(
      stateDiagram({
        initial: "on",
        transitions: { on: { press: "off", cut: "off", wait: "on" }, off: { press: null, cut: null, wait: null } },
        final: ["off"],
        arrival: "made",
        label: (trigger) => trigger.toUpperCase()
      }),
      [
        "```mermaid",
        "stateDiagram-v2",
        "    [*] --> on: made",
        "    on --> off: PRESS, CUT",
        "    on --> on: WAIT",
        "    off --> [*]",
        "```"
      ].join("\n")
    )
  })
})
