/**
 * All packages have the same files, the same kinds of exports, and versions from the catalog.
 */
import { existsSync, globSync, readdirSync, readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { assert, describe, it } from "vitest"

const root = resolve(import.meta.dirname, "../..")

interface Target {
  readonly source?: string
  readonly types?: string
  readonly default?: string
  readonly import?: { readonly types: string; readonly default: string }
  readonly require?: { readonly types: string; readonly default: string }
}

interface Manifest {
  readonly name: string
  readonly private?: boolean
  readonly license?: string
  readonly type?: string
  readonly sideEffects?: boolean
  readonly description?: string
  readonly keywords?: ReadonlyArray<string>
  readonly engines?: Readonly<Record<string, string>>
  readonly exports: Readonly<Record<string, Target | string>>
  readonly publishConfig: { readonly exports: Readonly<Record<string, Target | string>> }
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

const manifestOf = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8")) as Manifest

const packages = globSync("packages/*", { cwd: root }).map((folder) => ({ folder, manifest: manifestOf(folder) }))

const belongs = [
  "CHANGELOG.md",
  "README.md",
  "dist",
  "node_modules",
  "package.json",
  "src",
  "test",
  "tsconfig.json",
  "tsup.config.ts"
]

/** The entries that need effect, which is ESM only. */
const esmOnly = [
  "@govoice/api",
  "@govoice/client/effect",
  "@govoice/core",
  "@govoice/dispatcher",
  "@govoice/dispatcher/promise",
  "@govoice/webhooks/effect"
]

const withoutSource = (target: Target | string): unknown => {
  if (typeof target === "string") return target
  const { source: _, ...published } = target
  return published
}

describe.each(packages)("$manifest.name", ({ folder, manifest }) => {
  it("has the standard files only", () => {
    assert.isEmpty(readdirSync(join(root, folder)).filter((name) => !belongs.includes(name)))
    for (const name of ["CHANGELOG.md", "README.md", "src", "test", "tsconfig.json", "tsup.config.ts"]) {
      assert.isTrue(existsSync(join(root, folder, name)), `${folder}/${name} is missing`)
    }
  })

  it("has a description, keywords and a license", () => {
    assert.strictEqual(manifest.license, "MIT")
    assert.strictEqual(manifest.type, "module")
    assert.strictEqual(manifest.sideEffects, false)
    assert.isAbove(manifest.description?.length ?? 0, 20)
    assert.isNotEmpty(manifest.keywords ?? [])
    assert.isDefined(manifest.engines?.["node"])
  })

  it("publishes its exports without the source condition", () => {
    const published = Object.fromEntries(
      Object.entries(manifest.exports).map(([path, target]) => [path, withoutSource(target)])
    )
    assert.deepStrictEqual(manifest.publishConfig.exports, published)
  })

  it("has a source, an ESM and a CJS file for every export, or an ESM file alone where it needs effect", () => {
    for (const [path, target] of Object.entries(manifest.exports)) {
      if (typeof target === "string") continue
      assert.isTrue(existsSync(join(root, folder, target.source ?? "")), `${path} has no source`)
      if (esmOnly.includes(join(manifest.name, path))) {
        // `default`, so that `require` works where Node loads ESM by it.
        assert.deepStrictEqual(Object.keys(target), ["source", "types", "default"])
        assert.match(target.default ?? "", /\.js$/)
      } else {
        assert.match(target.import?.default ?? "", /\.js$/)
        assert.match(target.require?.default ?? "", /\.cjs$/)
      }
    }
  })
})

describe("versions", () => {
  const manifests = globSync("{packages,apps,examples}/*/package.json", { cwd: root }).concat(
    "bench/package.json",
    "test/package.json"
  )

  it.each(manifests)("%s pins each of its dependencies", (file) => {
    const { dependencies = {}, devDependencies = {} } = JSON.parse(readFileSync(join(root, file), "utf8")) as Manifest
    for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies })) {
      assert.match(
        version,
        /^(?:catalog:|workspace:\*|(?:npm:[@\w/-]+@)?\d+\.\d+\.\d+(?:-[\w.]+)?)$/,
        `${name} is not pinned`
      )
    }
  })
})
