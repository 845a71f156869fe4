/** Paths outside the API: the root, liveness, readiness, the reference, the guides, and the pages of the errors. */
import { CurrentRequestId } from "@govoice/api"
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import * as Readiness from "../../maintenance/Readiness.ts"
import { Settings } from "../../settings/Settings.ts"
import { version } from "../../version.ts"
import * as Responses from "../Responses.ts"
import * as ErrorPages from "./ErrorPages.ts"
import * as Guides from "./Guides.ts"
import * as Reference from "./Reference.ts"

const json = (body: unknown): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.text(JSON.stringify(body), { contentType: "application/json" })

const root = HttpRouter.use((router) =>
  Effect.gen(function* () {
    const { consoleEnabled } = yield* Settings
    const paths = { docs: "/docs", openapi: "/openapi.json", health: "/healthz", ready: "/readyz" }
    const answer = { name: "Govoice", version, ...(consoleEnabled ? { console: "/console" } : {}), ...paths }
    yield* router.add("GET", "/", json(answer))
  })
)

// A layer that two routers share is built for the first of them alone.
const healthz = () => HttpRouter.add("GET", "/healthz", json({ status: "ok" }))

const ready = json({ status: "ready", checks: { database: "ok" } })

const unready = (message: string) =>
  Effect.map(CurrentRequestId, (requestId) => Responses.problem("service_unavailable", requestId, {}, { message }))

const readyz = <R>(makeProblem: Effect.Effect<Effect.Effect<string | undefined>, never, R>) =>
  HttpRouter.use((router) =>
    Effect.gen(function* () {
      const problem = yield* makeProblem
      const answer = Effect.flatMap(problem, (message) =>
        message === undefined ? Effect.succeed(ready) : unready(message)
      )
      yield* router.add("GET", "/readyz", answer)
    })
  )

/** Serves liveness and readiness of a process on a port that workers have too. `problem` tells why it is not ready. */
export const probes = (problem: Effect.Effect<string | undefined>) =>
  Layer.mergeAll(healthz(), readyz(Effect.succeed(problem)))

/** Serves these paths. */
export const layer = Layer.mergeAll(
  root,
  healthz(),
  readyz(Readiness.make),
  Reference.layer,
  ErrorPages.layer,
  Guides.layer
)
