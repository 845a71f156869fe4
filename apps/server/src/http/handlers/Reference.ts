/** Serves the API reference at `/docs`, its document at `/openapi.json`, and the icon of both. */
import { Api } from "@govoice/api"
import { Effect, Fiber } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import { OpenApi } from "effect/http-api"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as Precompressed from "../Precompressed.ts"
import * as referencePage from "./referencePage.ts"

// Two lines of an invoice and a check mark.
const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#2a56d0"/>' +
  '<path d="M8 9h16M8 15h9M10 22l4 4 8-9" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round" stroke-linejoin="round"/></svg>'

const makeDocument = Effect.sync(() => OpenApi.fromApi(Api))

/** Makes the texts that the build compresses, by the names of their files. */
export const texts = {
  "docs.html": Effect.gen(function* () {
    const { html, policy } = yield* referencePage.make(yield* makeDocument)
    return {
      body: html,
      contentType: "text/html; charset=utf-8",
      headers: {
        "content-security-policy": policy,
        "cross-origin-opener-policy": "same-origin",
        "referrer-policy": "no-referrer",
        "x-frame-options": "DENY"
      }
    }
  }),
  "openapi.json": Effect.map(makeDocument, (document) => ({
    body: JSON.stringify(document),
    contentType: "application/json"
  }))
} satisfies Record<string, Effect.Effect<Precompressed.StaticText>>

/** The folder beside the bundle with the compressed texts. From source, there is none. */
export const folder = fileURLToPath(new URL("./reference/", import.meta.url))

const prepare = (from: string, name: keyof typeof texts) =>
  Effect.flatMap(
    Effect.promise(() => Precompressed.read(join(from, name))),
    (read) => (read === undefined ? Effect.flatMap(texts[name], Precompressed.make) : Effect.succeed(read))
  )

const prepareIcon = Precompressed.make({ body: icon, contentType: "image/svg+xml" })

/**
 * Prepares a response with the first request for it, and goes on where that request is interrupted. After a failure, the next
 * request prepares it anew.
 */
const onFirstRequest = (prepare: Effect.Effect<Precompressed.Respond>) =>
  Effect.gen(function* () {
    const scope = yield* Effect.scope
    let preparation: Fiber.Fiber<Precompressed.Respond> | undefined
    const discard = Effect.sync(() => (preparation = undefined))
    return Effect.gen(function* () {
      const { headers } = yield* HttpServerRequest.HttpServerRequest
      preparation ??= yield* Effect.forkIn(
        Effect.onError(prepare, () => discard),
        scope
      )
      const respond = yield* Fiber.join(preparation)
      return respond(headers)
    })
  })

/**
 * Adds the routes. Nothing is read or made before it is asked for: the viewer is 3 MB of text, and most processes are never asked.
 */
export const layerFrom = (from: string) =>
  HttpRouter.use((router) =>
    Effect.gen(function* () {
      yield* router.add("GET", "/docs", yield* onFirstRequest(prepare(from, "docs.html")))
      yield* router.add("GET", "/openapi.json", yield* onFirstRequest(prepare(from, "openapi.json")))
      yield* router.add("GET", "/favicon.svg", yield* onFirstRequest(prepareIcon))
    })
  )

/** Adds the routes, with the texts that the build has compressed. */
export const layer = layerFrom(folder)
