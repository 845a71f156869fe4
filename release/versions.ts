/**
 * Writes the version of the packages into the files that name the image of the server:
 *
 *     node --conditions=source release/versions.ts            updates the files
 *     node --conditions=source release/versions.ts --check    fails if a file is not current
 *
 * `run release:version` runs it after `changeset version`.
 */
import { globSync, readFileSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"

const root = resolve(import.meta.dirname, "..")

/** The files, relative to the root. */
export const files: ReadonlyArray<string> = globSync("apps/server/kubernetes/*.yaml", { cwd: root })
  .filter((path) => /image: govoice\b/.test(readFileSync(join(root, path), "utf8")))
  .sort()

/** The version that all packages have. */
export const version: string = (
  JSON.parse(readFileSync(join(root, "apps/server/package.json"), "utf8")) as { readonly version: string }
).version

/** Returns a file with the version in the image that it names. */
export const withVersion = (text: string, version: string): string =>
  text.replaceAll(/(?<=image: govoice:)\S+/g, version)

if (import.meta.main) {
  for (const file of files) {
    const path = join(root, file)
    const text = readFileSync(path, "utf8")
    const current = withVersion(text, version)
    if (current === text) continue
    if (process.argv.includes("--check")) {
      console.error(`${file} does not have version ${version}: run release/versions.ts`)
      process.exitCode = 1
    } else writeFileSync(path, current)
  }
}
