/**
 * Builds the console into `dist` or into the folder of the first argument, with a gzip and a Brotli form beside each file that compresses.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { brotliCompressSync, constants, gzipSync } from "node:zlib"
import { build } from "vite"

const root = import.meta.dirname

const dist = resolve(process.argv[2] ?? join(root, "dist"))

// Vite takes over a mode of the environment, and a page for owners never needs the checks of development.
process.env["NODE_ENV"] = "production"
await build({ root, logLevel: "warn", build: { outDir: dist, emptyOutDir: true } })

for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
  if (!entry.isFile() || !/\.(?:html|js|css|svg)$/.test(entry.name)) continue
  const file = join(entry.parentPath, entry.name)
  const bytes = readFileSync(file)
  writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }))
  writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }))
}
