/**
 * Writes a bill of materials (CycloneDX 1.6) for each published package, from the lockfile and the installed packages. Works
 * offline:
 *
 *     npx -y pnpm@12 run sbom            into sbom/
 *     npx -y pnpm@12 run sbom <folder>   into another folder
 *
 * The one of the server contains what is bundled, so build first: `npx -y pnpm@12 build`.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { publishedFolders } from "../../release/pack.ts"
import { bundled } from "./licenses.ts"
import { locked } from "./support/lockfile.ts"
import { pnpm } from "./support/pnpm.ts"

const root = resolve(import.meta.dirname, "../..")

const names = publishedFolders().map(
  (folder) => (JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8")) as { readonly name: string }).name
)

interface Component {
  readonly type: "library"
  readonly name: string
  readonly version: string
  readonly purl: string
  readonly "bom-ref": string
}

/** The members of a bill of materials that are used here. */
export interface Bom {
  readonly bomFormat: string
  readonly specVersion: string
  readonly metadata: { readonly component: { readonly "bom-ref": string } }
  readonly components?: ReadonlyArray<Component>
  readonly dependencies: ReadonlyArray<{ readonly ref: string; readonly dependsOn: ReadonlyArray<string> }>
}

const purl = (name: string, version: string): string => `pkg:npm/${name.replace("@", "%40")}@${version}`

const sha512 = (integrity: string | undefined): string | undefined =>
  integrity?.startsWith("sha512-") === true ? Buffer.from(integrity.slice(7), "base64").toString("hex") : undefined

const withBundled = (bom: Bom): Bom => {
  const integrity = new Map(locked().map((entry) => [`${entry.name}@${entry.version}`, entry.integrity]))
  const known = new Set(bom.components?.map((component) => component.purl))
  const inside = bundled().filter(({ name, version }) => !known.has(purl(name, version)))
  if (inside.length === 0) throw new Error("The server is not built. Run `npx -y pnpm@12 build` first.")
  const components = inside.map(({ license, name, version }) => {
    const hash = sha512(integrity.get(`${name}@${version}`))
    return {
      type: "library" as const,
      name,
      version,
      purl: purl(name, version),
      "bom-ref": purl(name, version),
      licenses: [{ license: { id: license } }],
      ...(hash === undefined ? {} : { hashes: [{ alg: "SHA-512", content: hash }] }),
      properties: [{ name: "govoice:bundled", value: "true" }]
    }
  })
  const self = bom.metadata.component["bom-ref"]
  return {
    ...bom,
    components: [...(bom.components ?? []), ...components],
    dependencies: bom.dependencies.map((entry) =>
      entry.ref === self ? { ...entry, dependsOn: [...entry.dependsOn, ...components.map((part) => part.purl)] } : entry
    )
  }
}

/** Returns the bill of materials of a package. */
export const make = (name: string): Bom => {
  const type = name === "@govoice/server" ? "application" : "library"
  const options = ["--sbom-format", "cyclonedx", "--sbom-spec-version", "1.6", "--sbom-type", type]
  const bom = JSON.parse(pnpm(root, "--filter", name, "--prod", "sbom", ...options)) as Bom
  return type === "application" ? withBundled(bom) : bom
}

if (import.meta.main) {
  const folder = resolve(process.argv[2] ?? join(root, "sbom"))
  mkdirSync(folder, { recursive: true })
  for (const name of names) {
    const bom = make(name)
    const path = join(folder, `${name.replace("@", "").replace("/", "-")}.cdx.json`)
    writeFileSync(path, `${JSON.stringify(bom, null, 2)}\n`)
    console.log(`${path}: ${bom.components?.length ?? 0} components`)
  }
}
