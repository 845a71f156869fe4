/**
 * Checks the configuration of releases.
 */
import { spawnSync } from "node:child_process"
import { globSync, readdirSync, readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { assert, describe, it } from "vitest"
import { parseRepository, publishedFolders, withRepository } from "../../release/pack.ts"
import * as versions from "../../release/versions.ts"

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
  it("have exactly the published packages in one group", () => {
    const { fixed } = readJson(".changeset/config.json") as { readonly fixed: ReadonlyArray<ReadonlyArray<string>> }
    assert.lengthOf(fixed, 1)
    assert.sameMembers(
      [...fixed[0]!],
      published.map(({ name }) => name)
    )
    assert.lengthOf(new Set(published.map(({ version }) => version)), 1)
  })

  it.each(published.map((manifest) => [manifest.name, manifest] as const))(
    "of %s are public, with provenance, the build and a changelog",
    (_, { files, publishConfig }) => {
      assert.deepInclude(publishConfig, { access: "public", provenance: true })
      assert.includeMembers([...(files ?? [])], ["CHANGELOG.md", "dist"])
    }
  )

  it("pack exactly the published packages", () => {
    assert.sameMembers(
      publishedFolders().map((folder) => (readJson(join(folder, "package.json")) as Manifest).name),
      published.map(({ name }) => name)
    )
  })

  it("write their version into every manifest of Kubernetes that names the image", () => {
    assert.isAtLeast(versions.files.length, 3)
    for (const file of versions.files) {
      const text = readFileSync(join(root, file), "utf8")
      assert.include(text, `image: govoice:${versions.version}\n`, `${file}: run release/versions.ts`)
      assert.include(versions.withVersion(text, "12.3.4-rc.1"), "image: govoice:12.3.4-rc.1\n")
    }
    const { scripts } = readJson("package.json") as { readonly scripts: Readonly<Record<string, string>> }
    assert.match(scripts["release:version"] ?? "", /^changeset version && .*release\/versions\.ts/)
  })

  it("need no edit of a version by hand: READMEs and manifests contain none of their own", () => {
    const written = globSync(["*.md", "{apps,packages}/*/README.md", "apps/server/*.yaml", "apps/server/Dockerfile"], {
      cwd: root
    }).filter((file) => /govoice[:/@]v?\d+\.\d+\.\d+/i.test(readFileSync(join(root, file), "utf8")))
    assert.deepStrictEqual(written, [])
  })

  it("name the repository that builds them", () => {
    const repository = parseRepository("https://git.example/owner/name.git")
    assert.deepStrictEqual(withRepository({ name: "a" }, repository, "packages/a"), {
      name: "a",
      repository: { type: "git", url: "git+https://git.example/owner/name.git", directory: "packages/a" }
    })
    assert.throws(
      () => parseRepository("owner/name"),
      '--repository expects https://<host>/<owner>/<name> (got "owner/name")'
    )
  })

  it("are refused without a repository", () => {
    const { status, stderr } = spawnSync(process.execPath, ["--conditions=source", "release/pack.ts", "--release"], {
      cwd: root,
      encoding: "utf8",
      env: { PATH: process.env["PATH"] }
    })
    assert.strictEqual(status, 1)
    assert.strictEqual(
      stderr,
      "A release names the repository that it is built from: pass --repository https://<host>/<owner>/<name>\n"
    )
  })

  it("of the server depend on no patched package", () => {
    const { dependencies = {} } = published.find(({ name }) => name === "@govoice/server")!
    const { patchedDependencies } = { patchedDependencies: readFileSync(join(root, "pnpm-workspace.yaml"), "utf8") }
    for (const name of Object.keys(dependencies)) assert.notInclude(patchedDependencies, `'${name}@`)
  })

  it("are described by changesets of existing packages", () => {
    const names = published.map(({ name }) => name)
    for (const file of readdirSync(join(root, ".changeset")).filter((file) => file.endsWith(".md"))) {
      const [, front = ""] = /^---\n([^]*?)\n---\n\n\S/.exec(readFileSync(join(root, ".changeset", file), "utf8")) ?? []
      const named = Array.from(front.matchAll(/^"([^"]+)": (?:major|minor|patch)$/gm), ([, name]) => name!)
      assert.isNotEmpty(named, `${file} names no package`)
      assert.includeMembers(names, named, file)
    }
  })
})
