/**
 * Builds the console into `dist`, with a gzip and a Brotli form beside each file that compresses.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { brotliCompressSync, constants, gzipSync } from "node:zlib"
import { build } from "vite"

const root = import.meta.dirname

await build({ root, logLevel: "warn" })

const dist = join(root, "dist")
for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
  if (!entry.isFile() || !/\.(?:html|js|css|svg)$/.test(entry.name)) continue
  const file = join(entry.parentPath, entry.name)
  const bytes = readFileSync(file)
  writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }))
  writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }))
}
