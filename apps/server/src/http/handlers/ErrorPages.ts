/** Serves the documentation page of each error code at `/docs/errors/{code}`: HTML for browsers, text otherwise. */
import { ErrorCatalog } from "@govoice/core"
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { loadMarkdownPage, notFound, vary, wantsHtml } from "./Guides.ts"

/** The folder of the pages: beside the bundle, or that of the repository. */
const folder = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "../../../../../docs/errors/" : "./errors/", import.meta.url)
)

const codes: ReadonlySet<string> = new Set(ErrorCatalog.codes)

// A page is read when it is asked for first, and kept. Its comments are for the generator of its parts.
const texts = new Map<string, string>()

const textOf = async (code: string): Promise<string> => {
  const kept = texts.get(code)
  if (kept !== undefined) return kept
  const page = await readFile(join(folder, `${code}.md`), "utf8")
  const text = page.replaceAll(/^<!--.*-->\n/gm, "").replaceAll(/\n{3,}/g, "\n\n")
  texts.set(code, text)
  return text
}

// The list of the codes is in their guide.
const list = HttpRouter.add("GET", "/docs/errors", HttpServerResponse.redirect("/docs/guides/errors"))

const page = HttpRouter.add(
  "GET",
  "/docs/errors/:code",
  Effect.gen(function* () {
    const { code = "" } = yield* HttpRouter.params
    if (!codes.has(code)) return yield* notFound
    const text = yield* Effect.promise(() => textOf(code))
    if (!(yield* wantsHtml))
      return HttpServerResponse.text(text, { contentType: "text/plain; charset=utf-8", headers: vary })
    const page = yield* loadMarkdownPage
    return HttpServerResponse.text(page.make(text, "errors"), {
      contentType: "text/html; charset=utf-8",
      headers: { ...page.headers, ...vary }
    })
  })
)

/** Adds the routes. */
export const layer = Layer.mergeAll(list, page)
