/** Serves the API reference at `/docs`, its document at `/openapi.json`, and the icon of both. */
import { Effect } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import * as Precompressed from "../Precompressed.ts"
import * as apiDocument from "./apiDocument.ts"
import * as referencePage from "./referencePage.ts"

// Two lines of an invoice and a check mark.
const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#2a56d0"/>' +
  '<path d="M8 9h16M8 15h9M10 22l4 4 8-9" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round" stroke-linejoin="round"/></svg>'

const prepare = Effect.gen(function* () {
  const document = apiDocument.make()
  const { html, policy } = yield* referencePage.make(document)
  return yield* Effect.all({
    page: Precompressed.make({
      body: html,
      contentType: "text/html; charset=utf-8",
      headers: {
        "content-security-policy": policy,
        "cross-origin-opener-policy": "same-origin",
        "referrer-policy": "no-referrer",
        "x-frame-options": "DENY"
      }
    }),
    document: Precompressed.make({ body: JSON.stringify(document), contentType: "application/json" }),
    icon: Precompressed.make({ body: icon, contentType: "image/svg+xml" })
  })
})

/** Adds the routes. Prepares the responses in the background, so that a start does not wait for it. */
export const layer = HttpRouter.use((router) =>
  Effect.gen(function* () {
    const prepared = yield* Effect.cached(prepare)
    yield* Effect.forkScoped(prepared)
    const respond = (pick: (all: Effect.Success<typeof prepare>) => Precompressed.Respond) =>
      Effect.gen(function* () {
        const { headers } = yield* HttpServerRequest.HttpServerRequest
        return pick(yield* prepared)(headers)
      })
    yield* router.add(
      "GET",
      "/docs",
      respond(({ page }) => page)
    )
    yield* router.add(
      "GET",
      "/openapi.json",
      respond(({ document }) => document)
    )
    yield* router.add(
      "GET",
      "/favicon.svg",
      respond(({ icon }) => icon)
    )
  })
)
