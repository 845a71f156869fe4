/** Serves the guides at `/docs/guides`, and the typeface of their pages. */
import { CurrentRequestId } from "@govoice/api"
import { Effect } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { readdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as Responses from "../Responses.ts"

/** The folder of the guides: beside the bundle, or that of the repository. */
export const folder = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "../../../../../docs/guides/" : "./guides/", import.meta.url)
)

/** The renderer of Markdown, which loads when the first page is asked for. */
export const loadMarkdownPage = Effect.promise(() => import("./markdownPage.ts"))

type MarkdownPage = Effect.Success<typeof loadMarkdownPage>

// Far longer than those there are, and shorter than what a file system takes for too long.
const isName = (name: string): boolean => /^[a-z][a-z-]{0,63}$/.test(name)

const typefaceFolder = fileURLToPath(
  new URL(
    import.meta.url.endsWith(".ts")
      ? "../../../../console/node_modules/@fontsource-variable/hanken-grotesk/files/"
      : "./typeface/",
    import.meta.url
  )
)

const isTypeface = (name: string): boolean => /^hanken-grotesk-latin(?:-ext)?-wght-normal\.woff2$/.test(name)

const readExisting = (path: string): Promise<Buffer | undefined> =>
  readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined
    throw error
  })

const read = async (from: string, name: string): Promise<string | undefined> =>
  (await readExisting(join(from, `${name}.md`)))?.toString("utf8")

const contents = async (from: string, { titleOf }: MarkdownPage): Promise<string> => {
  const files = await readdir(from)
  const names = files.filter((file) => file.endsWith(".md")).map((file) => file.slice(0, -3))
  const guides = await Promise.all(
    names.map(async (name) => ({ name, title: titleOf((await read(from, name)) ?? "") }))
  )
  const lines = guides
    .sort((one, other) => one.title.localeCompare(other.title, "en"))
    .map(({ name, title }) => `- [${title}](${name}.md)`)
  return `# Guides\n\n${lines.join("\n")}\n`
}

const languageOf = (name: string): string => (name.endsWith("-pl") ? "pl" : "en")

/** Adds the routes. A guide is read when it is asked for first, and kept: anybody may ask for it at any rate. */
export const layer = HttpRouter.use((router) =>
  Effect.gen(function* () {
    // By name, and the contents without one.
    const pages = new Map<string | undefined, string>()
    const serve = Effect.fnUntraced(function* (name?: string) {
      const page = yield* loadMarkdownPage
      const render = async (): Promise<string | undefined> => {
        const markdown = name === undefined ? await contents(folder, page) : await read(folder, name)
        return markdown && page.make(markdown, "guides", name && languageOf(name))
      }
      const html = pages.get(name) ?? (yield* Effect.promise(render))
      if (html === undefined) return Responses.problem("not_found", yield* CurrentRequestId)
      pages.set(name, html)
      return HttpServerResponse.text(html, { contentType: "text/html; charset=utf-8", headers: page.headers })
    })

    yield* router.add("GET", "/docs/guides", serve())
    yield* router.add(
      "GET",
      "/docs/guides/:name",
      Effect.gen(function* () {
        const { name = "" } = yield* HttpRouter.params
        return isName(name) ? yield* serve(name) : Responses.problem("not_found", yield* CurrentRequestId)
      })
    )
    yield* router.add(
      "GET",
      "/docs/typeface/:name",
      Effect.gen(function* () {
        const { name = "" } = yield* HttpRouter.params
        const file = isTypeface(name)
          ? yield* Effect.promise(() => readExisting(join(typefaceFolder, name)))
          : undefined
        return file === undefined
          ? Responses.problem("not_found", yield* CurrentRequestId)
          : HttpServerResponse.uint8Array(file, {
              contentType: "font/woff2",
              headers: { "cache-control": "public, max-age=86400" }
            })
      })
    )
  })
)
