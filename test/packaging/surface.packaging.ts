/**
 * The public surface of each package is what `test/packaging/api` says. A difference is either a mistake or a change for
 * users, which wants a changeset; `-u` writes the new surface down.
 */
import { resolve } from "node:path"
import { assert, describe, expect, inject, it } from "vitest"
import { surface } from "./support/surface.ts"

const root = resolve(import.meta.dirname, "../..")
const packages = inject("packed").filter(({ folder }) => folder.startsWith("packages/"))

describe("the public surface", () => {
  it.each(packages)("of $name is the one that was written down", async ({ folder }) => {
    const name = folder.slice("packages/".length)
    await expect(surface(resolve(root, folder))).toMatchFileSnapshot(`api/${name}.md`)
  })

  it("is seen whole: entries, namespaces, and what is behind them", () => {
    const webhooks = surface(resolve(root, "packages/webhooks"))
    for (const entry of ["", "/effect", "/testing", "/express", "/fastify", "/node", "/web"]) {
      assert.include(webhooks, `## @govoice/webhooks${entry}\n`)
    }
    const core = surface(resolve(root, "packages/core"))
    assert.include(core, "InvoiceState.transitions:\nconst transitions: {")
    assert.notInclude(core, "/**")
  })
})
