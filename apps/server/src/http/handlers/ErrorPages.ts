/** Serves the documentation page of each error code at `/docs/errors/{code}`, as text. */
import { CurrentRequestId } from "@govoice/api"
import { Effect } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import * as Responses from "../Responses.ts"
import pages from "./errorPages.json" with { type: "json" }

const found = new Map(
  Object.entries(pages).map(([code, text]) => [
    code,
    HttpServerResponse.text(text, { contentType: "text/plain; charset=utf-8" })
  ])
)

/** Adds the route. The pages are generated from `docs/errors`. */
export const layer = HttpRouter.add(
  "GET",
  "/docs/errors/:code",
  Effect.gen(function* () {
    const { code = "" } = yield* HttpRouter.params
    return found.get(code) ?? Responses.problem("not_found", yield* CurrentRequestId)
  })
)
