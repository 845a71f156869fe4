/**
 * Compares the public surface of each package with `test/packaging/api`. A difference is a mistake, or a change for users that
 * needs a changeset; `-u` records the new surface.
 */
import { resolve } from "node:path"
import { assert, describe, expect, inject, it } from "vitest"
import { surface } from "./support/surface.ts"

const root = resolve(import.meta.dirname, "../..")
const packages = inject("packed").filter(({ folder }) => folder.startsWith("packages/"))

describe("the public surface", () => {
  it.each(packages)("of $name is the recorded one", async ({ folder }) => {
    const name = folder.slice("packages/".length)
    await expect(surface(resolve(root, folder))).toMatchFileSnapshot(`api/${name}.txt`)
  })

  it("contains entries, namespaces and their members", () => {
    const webhooks = surface(resolve(root, "packages/webhooks"))
    for (const entry of ["", "/effect", "/testing", "/express", "/fastify", "/node", "/web"]) {
      assert.include(webhooks, `## @govoice/webhooks${entry}\n`)
    }
    const core = surface(resolve(root, "packages/core"))
    assert.include(core, "InvoiceState.transitions:\nconst transitions: {")
    assert.notInclude(core, "/**")
  })
})
