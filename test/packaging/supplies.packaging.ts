/**
 * Checks licenses, the lockfile, and bills of materials.
 */
import { assert, describe, it } from "vitest"
import { bundled, dependencies, type Dependency, refused, unread } from "./licenses.ts"
import { type Bom, make } from "./sbom.ts"
import { locked } from "./support/lockfile.ts"

const dependency = (license: string, use: Dependency["use"]): Dependency => ({
  name: "planted",
  version: "1.0.0",
  license,
  use
})

describe("licenses", () => {
  it("are compatible with the MIT license", () => {
    const found = dependencies()
    assert.isAbove(found.filter(({ use }) => use === "published").length, 10)
    assert.deepStrictEqual(refused(found), [])
    assert.deepStrictEqual(unread(found), [])
  })

  it("are refused if they are not in the table, or missing", () => {
    for (const license of ["GPL-3.0-only", "AGPL-3.0", "SSPL-1.0", "BUSL-1.1", "UNLICENSED", "Unknown", "MPL-2.0"]) {
      assert.lengthOf(refused([dependency(license, "published")]), 1, license)
    }
    for (const license of ["MIT", "(MIT OR GPL-3.0-only)", "Apache-2.0"]) {
      assert.isEmpty(refused([dependency(license, "published")]), license)
    }
    assert.isEmpty(refused([dependency("MPL-2.0", "tool")]))
    assert.lengthOf(refused([dependency("MIT AND GPL-3.0-only", "tool")]), 1)
  })
})

describe("the lockfile", () => {
  it("has a checksum for every package", () => {
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
  it("contain dependencies and bundled packages of the server", () => {
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

  it("contain no dependency of the verifier", () => {
    assert.isEmpty(refs(make("@govoice/webhooks")))
  })
})
