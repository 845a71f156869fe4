/**
 * What is released, and that it is released together.
 */
import { globSync, readdirSync, readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { assert, describe, it } from "vitest"

const root = resolve(import.meta.dirname, "../..")
const readJson = (path: string): unknown => JSON.parse(readFileSync(join(root, path), "utf8"))

interface Manifest {
  readonly name: string
  readonly version?: string
  readonly private?: boolean
  readonly files?: ReadonlyArray<string>
  readonly publishConfig?: { readonly access?: string; readonly provenance?: boolean }
  readonly dependencies?: Readonly<Record<string, string>>
}

const published = globSync("{packages,apps,examples}/*/package.json", { cwd: root })
  .concat("bench/package.json", "test/package.json", "package.json")
  .map((path) => readJson(path) as Manifest)
  .filter((manifest) => manifest.private !== true)

describe("releases", () => {
  it("have all published packages in one group, and no other", () => {
    const { fixed } = readJson(".changeset/config.json") as { readonly fixed: ReadonlyArray<ReadonlyArray<string>> }
    assert.lengthOf(fixed, 1)
    assert.sameMembers(
      [...fixed[0]!],
      published.map(({ name }) => name)
    )
    assert.lengthOf(new Set(published.map(({ version }) => version)), 1)
  })

  it.each(published.map((manifest) => [manifest.name, manifest] as const))(
    "of %s are public, have a provenance, and contain the build and a changelog",
    (_, { files, publishConfig }) => {
      assert.deepInclude(publishConfig, { access: "public", provenance: true })
      assert.includeMembers([...(files ?? [])], ["CHANGELOG.md", "dist"])
    }
  )

  it("of the server depend on nothing that only this repository can patch", () => {
    const { dependencies = {} } = published.find(({ name }) => name === "@govoice/server")!
    const { patchedDependencies } = { patchedDependencies: readFileSync(join(root, "pnpm-workspace.yaml"), "utf8") }
    for (const name of Object.keys(dependencies)) assert.notInclude(patchedDependencies, `'${name}@`)
  })

  it("are described by changesets that name packages that there are", () => {
    const names = published.map(({ name }) => name)
    for (const file of readdirSync(join(root, ".changeset")).filter((file) => file.endsWith(".md"))) {
      const [, front = ""] = /^---\n([^]*?)\n---\n\n\S/.exec(readFileSync(join(root, ".changeset", file), "utf8")) ?? []
      const named = Array.from(front.matchAll(/^"([^"]+)": (?:major|minor|patch)$/gm), ([, name]) => name!)
      assert.isNotEmpty(named, `${file} names no package`)
      assert.includeMembers(names, named, file)
    }
  })
})
