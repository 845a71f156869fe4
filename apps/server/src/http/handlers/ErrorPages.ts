/** Serves the documentation page of each error code at `/docs/errors/{code}`: HTML for browsers, text otherwise. */
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import pages from "./errorPages.json" with { type: "json" }
import { loadMarkdownPage, notFound, vary, wantsHtml } from "./Guides.ts"

const texts = new Map(Object.entries(pages))

// The list of the codes is in their guide.
const list = HttpRouter.add("GET", "/docs/errors", HttpServerResponse.redirect("/docs/guides/errors"))

const page = HttpRouter.add(
  "GET",
  "/docs/errors/:code",
  Effect.gen(function* () {
    const { code = "" } = yield* HttpRouter.params
    const text = texts.get(code)
    if (text === undefined) return yield* notFound
    if (!(yield* wantsHtml))
      return HttpServerResponse.text(text, { contentType: "text/plain; charset=utf-8", headers: vary })
    const page = yield* loadMarkdownPage
    return HttpServerResponse.text(page.make(text, "errors"), {
      contentType: "text/html; charset=utf-8",
      headers: { ...page.headers, ...vary }
    })
  })
)

/** Adds the routes. The pages are generated from `docs/errors`. */
export const layer = Layer.mergeAll(list, page)
