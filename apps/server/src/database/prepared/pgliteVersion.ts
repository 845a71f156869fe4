import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"

/** Returns the version of the PGlite that is installed. Its package does not export its manifest. */
export const pgliteVersion = (): string => {
  const entry = createRequire(import.meta.url).resolve("@electric-sql/pglite")
  const manifest = readFileSync(join(dirname(entry), "../package.json"), "utf8")
  return (JSON.parse(manifest) as { readonly version: string }).version
}
