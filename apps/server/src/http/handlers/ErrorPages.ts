/** Serves the documentation page of each error code at `/docs/errors/{code}`: HTML for browsers, text otherwise. */
import { CurrentRequestId } from "@govoice/api"
import { Effect } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import * as Responses from "../Responses.ts"
import pages from "./errorPages.json" with { type: "json" }
import { loadMarkdownPage } from "./Guides.ts"

const texts = new Map(Object.entries(pages))

const vary = { vary: "Accept" }

/** Adds the route. The pages are generated from `docs/errors`. */
export const layer = HttpRouter.add(
  "GET",
  "/docs/errors/:code",
  Effect.gen(function* () {
    const { code = "" } = yield* HttpRouter.params
    const text = texts.get(code)
    if (text === undefined) return Responses.problem("not_found", yield* CurrentRequestId)
    const { headers } = yield* HttpServerRequest.HttpServerRequest
    if (headers["accept"]?.includes("text/html") !== true)
      return HttpServerResponse.text(text, { contentType: "text/plain; charset=utf-8", headers: vary })
    const page = yield* loadMarkdownPage
    return HttpServerResponse.text(page.make(text, "errors"), {
      contentType: "text/html; charset=utf-8",
      headers: { ...page.headers, ...vary }
    })
  })
)
