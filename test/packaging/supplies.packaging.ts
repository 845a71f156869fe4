/**
 * What Govoice is made of: licences that go with its own, and bills of materials that name everything.
 */
import { assert, describe, it } from "vitest"
import { bundled, dependencies, type Dependency, refused, unread } from "./licences.ts"
import { type Bom, make } from "./sbom.ts"
import { locked } from "./support/lockfile.ts"

const dependency = (licence: string, use: Dependency["use"]): Dependency => ({
  name: "planted",
  version: "1.0.0",
  licence,
  use
})

describe("licences", () => {
  it("go with the MIT licence, all of them", () => {
    const found = dependencies()
    assert.isAbove(found.filter(({ use }) => use === "published").length, 10)
    assert.deepStrictEqual(refused(found), [])
    assert.deepStrictEqual(unread(found), [])
  })

  it("are refused when they ask for more, or say nothing", () => {
    for (const licence of ["GPL-3.0-only", "AGPL-3.0", "SSPL-1.0", "BUSL-1.1", "UNLICENSED", "Unknown", "MPL-2.0"]) {
      assert.lengthOf(refused([dependency(licence, "published")]), 1, licence)
    }
    for (const licence of ["MIT", "(MIT OR GPL-3.0-only)", "Apache-2.0"]) {
      assert.isEmpty(refused([dependency(licence, "published")]), licence)
    }
    assert.isEmpty(refused([dependency("MPL-2.0", "tool")]))
    assert.lengthOf(refused([dependency("MIT AND GPL-3.0-only", "tool")]), 1)
  })
})

describe("the lockfile", () => {
  it("is read whole, with a checksum for every package", () => {
    const entries = locked()
    assert.isAbove(entries.length, 300)
    for (const { integrity, name, version } of entries) {
      assert.match(name, /^(?:@[\w.-]+\/)?[\w.-]+$/)
      assert.match(version, /^\d/)
      assert.match(integrity ?? "", /^sha512-/, `${name}@${version} has no checksum`)
    }
    assert.isTrue(entries.some(({ forSomePlatforms, name }) => forSomePlatforms && name.startsWith("@node-rs/argon2-")))
  })
})

const refs = ({ components = [] }: Bom): ReadonlyArray<string> => components.map((component) => component["bom-ref"])

describe("bills of materials", () => {
  it("names what the server depends on, and what it has inside", () => {
    const bom = make("@govoice/server")
    assert.deepStrictEqual([bom.bomFormat, bom.specVersion], ["CycloneDX", "1.6"])
    const text = refs(bom).join(" ")
    for (const name of ["%40electric-sql/pglite", "%40node-rs/argon2", "undici", "effect", "%40effect/sql-pg"]) {
      assert.include(text, `pkg:npm/${name}@`)
    }
    assert.isAbove(bundled().length, 3)
    const known = new Set([...refs(bom), bom.metadata.component["bom-ref"]])
    for (const { dependsOn, ref } of bom.dependencies) {
      for (const name of [ref, ...dependsOn]) assert.isTrue(known.has(name), `${name} is no component`)
    }
  })

  it("says of the verifier that it depends on nothing", () => {
    assert.isEmpty(refs(make("@govoice/webhooks")))
  })
})
