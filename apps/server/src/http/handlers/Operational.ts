/** Paths outside the API: the root, liveness, readiness, the reference, and the pages of the errors. */
import { CurrentRequestId } from "@govoice/api"
import { Effect, Fiber, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import type { SqlClient } from "effect/sql"
import type { KeyRing } from "../../crypto/KeyRing.ts"
import * as Migrations from "../../database/Migrations.ts"
import * as SqlErrors from "../../database/SqlErrors.ts"
import * as KeyCheck from "../../maintenance/KeyCheck.ts"
import { Settings } from "../../settings/Settings.ts"
import { version } from "../../version.ts"
import * as Responses from "../Responses.ts"
import * as ErrorPages from "./ErrorPages.ts"
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

const healthz = HttpRouter.add("GET", "/healthz", json({ status: "ok" }))

const ready = json({ status: "ready", checks: { database: "ok" } })

const unready = (message: string) =>
  Effect.map(CurrentRequestId, (requestId) => Responses.problem("service_unavailable", requestId, {}, { message }))

const schemaMismatch = "The database schema does not match this version of the server."

const findProblem = Effect.gen(function* () {
  const { isCurrent, isReadOnly } = yield* Migrations.status
  if (isReadOnly) return "The database is read-only."
  if (!isCurrent) return schemaMismatch
  return KeyCheck.describe(yield* KeyCheck.check)
})

// Anybody may ask, so that many requests cost one statement.
const cachedFor = "1 second"

const readyz = HttpRouter.use((router) =>
  Effect.gen(function* () {
    const services = yield* Effect.context<KeyRing | SqlClient.SqlClient>()
    // Detached, because an interruption waits until the statement is canceled, and a probe must not.
    const problem = yield* findProblem.pipe(
      Effect.provideContext(services),
      Effect.timeout("2 seconds"),
      Effect.forkDetach,
      Effect.flatMap(Fiber.join),
      Effect.timeout("2 seconds"),
      Effect.catch((error) =>
        Effect.succeed(SqlErrors.isPermanent(error) ? schemaMismatch : "The database cannot be reached.")
      ),
      Effect.cachedWithTTL(cachedFor)
    )
    const answer = Effect.flatMap(problem, (message) =>
      message === undefined ? Effect.succeed(ready) : unready(message)
    )
    yield* router.add("GET", "/readyz", answer)
  })
)

/** Serves these paths. */
export const layer = Layer.mergeAll(root, healthz, readyz, Reference.layer, ErrorPages.layer)
