/** The files of the console, read from disk once and served from memory. */
import { Effect, Option } from "effect"
import { readdir, readFile } from "node:fs/promises"
import { extname, join, relative, sep } from "node:path"
import { fileURLToPath } from "node:url"
import * as Precompressed from "../Precompressed.ts"

/** The files by their path below `/console/`. */
export interface ConsoleFiles {
  readonly page: Precompressed.Respond
  readonly assets: ReadonlyMap<string, Precompressed.Respond>
}

/** The folder of the built console: beside the bundle, or where `apps/console` builds it. */
export const folder = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "../../../../console/dist/" : "./console/", import.meta.url)
)

const contentTypes: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2"
}

// The build writes compressed variants beside each file.
const suffixes = Object.entries(Precompressed.suffixes) as ReadonlyArray<[Precompressed.Coding, string]>

const isVariant = (name: string): boolean => /\.(?:gz|br)$/.test(name)

/** Whether a path is that of a file whose name contains the hash of its content. Other paths are views of the page. */
export const isAsset = (path: string): boolean => /^(?:assets\/|theme-[^/]*\.js$)/.test(path)

const readAll = async (root: string): Promise<ReadonlyMap<string, Buffer>> => {
  const entries = await readdir(root, { recursive: true, withFileTypes: true })
  const read = entries
    .filter((entry) => entry.isFile())
    .map(async (entry) => {
      const path = join(entry.parentPath, entry.name)
      return [relative(root, path).split(sep).join("/"), await readFile(path)] as const
    })
  return new Map(await Promise.all(read))
}

/** Reads the files. None if the console was not built. */
export const read = (root: string): Effect.Effect<Option.Option<ConsoleFiles>> =>
  Effect.promise(async () => {
    const files = await readAll(root).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return new Map<string, Buffer>()
      throw error
    })

    const respond = (path: string, cacheControl: string): Precompressed.Respond => {
      const variants = new Map<Precompressed.Coding, Buffer>()
      for (const [coding, suffix] of suffixes) {
        const bytes = files.get(`${path}${suffix}`)
        if (bytes !== undefined) variants.set(coding, bytes)
      }
      return Precompressed.fromVariants(variants, {
        contentType: contentTypes[extname(path)] ?? "application/octet-stream",
        headers: { "cache-control": cacheControl }
      })
    }

    if (!files.has("index.html")) return Option.none()
    const assets = [...files.keys()].filter((path) => isAsset(path) && !isVariant(path))
    return Option.some({
      page: respond("index.html", "no-cache"),
      assets: new Map(assets.map((path) => [path, respond(path, "public, max-age=31536000, immutable")]))
    })
  })
