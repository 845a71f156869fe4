/** Serves the guides at `/docs/guides`, and the typeface of their pages. */
import { CurrentRequestId } from "@govoice/api"
import { Effect } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as Responses from "../Responses.ts"

/** The folder of the guides: beside the bundle, or that of the repository. */
export const folder = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "../../../../../docs/guides/" : "./guides/", import.meta.url)
)

/** The folder of the lists of the guides, which the site has too. */
const contentsFolder = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "../../../../../docs/contents/" : "./contents/", import.meta.url)
)

/** The renderer of Markdown, which loads when the first page is asked for. */
export const loadMarkdownPage = Effect.promise(() => import("./markdownPage.ts"))

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

// Without its front matter and its title.
const listOf = async (name: string): Promise<string> =>
  ((await read(contentsFolder, name)) ?? "").replace(/^---\n[^]*?\n---\n/, "").replace(/^\s*# .*\n/, "")

// The pages of the roles, in place of the sentence that leads to them on the site, and the guides by subject.
const contents = async (): Promise<string> => {
  const [roles, guides] = await Promise.all([listOf("Start"), listOf("Guides")])
  return `# Guides\n${roles}${guides.replace(/^\[Start\].*\n/m, "")}`
}

const languageOf = (name: string): string => (name.endsWith("-pl") ? "pl" : "en")

/** Whether the reader is a browser. Answers that depend on it have `vary`. */
export const wantsHtml = Effect.map(
  HttpServerRequest.HttpServerRequest,
  ({ headers }) => headers["accept"]?.includes("text/html") === true
)

/** The header of answers that depend on the reader. */
export const vary = { vary: "Accept" }

const lost = "# Page not found\n\nThere is no page at this address. The codes of errors are in [Errors](errors.md).\n"

/** The answer where the documentation has no page: a page for browsers, the envelope of the API otherwise. */
export const notFound = Effect.gen(function* () {
  if (!(yield* wantsHtml)) return Responses.problem("not_found", yield* CurrentRequestId, vary)
  const page = yield* loadMarkdownPage
  return HttpServerResponse.text(page.make(lost, "guides"), {
    status: 404,
    contentType: "text/html; charset=utf-8",
    headers: { ...page.headers, ...vary }
  })
})

/** Adds the routes. A guide is read when it is asked for first, and kept: anybody may ask for it at any rate. */
export const layer = HttpRouter.use((router) =>
  Effect.gen(function* () {
    // By name, and the contents without one.
    const pages = new Map<string | undefined, string>()
    const serve = Effect.fnUntraced(function* (name?: string) {
      const page = yield* loadMarkdownPage
      const render = async (): Promise<string | undefined> => {
        const markdown = name === undefined ? await contents() : await read(folder, name)
        return markdown && page.make(markdown, "guides", name && languageOf(name))
      }
      const html = pages.get(name) ?? (yield* Effect.promise(render))
      if (html === undefined) return yield* notFound
      pages.set(name, html)
      return HttpServerResponse.text(html, { contentType: "text/html; charset=utf-8", headers: page.headers })
    })

    yield* router.add("GET", "/docs/:name", notFound)
    yield* router.add("GET", "/docs/guides", serve())
    yield* router.add(
      "GET",
      "/docs/guides/:name",
      Effect.gen(function* () {
        const { name = "" } = yield* HttpRouter.params
        return yield* isName(name) ? serve(name) : notFound
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
          ? yield* notFound
          : HttpServerResponse.uint8Array(file, {
              contentType: "font/woff2",
              headers: { "cache-control": "public, max-age=86400" }
            })
      })
    )
  })
)
