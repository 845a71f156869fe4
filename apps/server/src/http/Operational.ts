/**
 * What is not the API itself: where things are, whether the process lives, whether it can work, what the contract says.
 *
 * @since 0.1.0
 */
import { Api, CurrentRequestId } from "@govoice/api"
import { Effect, Fiber, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { HttpApiScalar } from "effect/http-api"
import { SqlClient } from "effect/sql"
import * as Migrations from "../database/Migrations.ts"
import { version } from "../version.ts"
import * as Responses from "./Responses.ts"

const json = (body: unknown): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.text(JSON.stringify(body), { contentType: "application/json" })

const root = HttpRouter.add(
  "GET",
  "/",
  json({ name: "Govoice", version, docs: "/docs", openapi: "/openapi.json", health: "/healthz", ready: "/readyz" })
)

const healthz = HttpRouter.add("GET", "/healthz", json({ status: "ok" }))

const ready = json({ status: "ready", checks: { database: "ok" } })

const unready = (message: string) =>
  Effect.map(CurrentRequestId, (requestId) => Responses.problem("service_unavailable", requestId, {}, { message }))

// Ready means that the database answers, and that its schema is the one this process was built for.
const readyz = HttpRouter.use((router) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    // In a fiber of its own: giving up on a connection takes as long as cancelling its statement, and nobody waits for that.
    const check = Migrations.isCurrent.pipe(
      Effect.provideService(SqlClient.SqlClient, sql),
      Effect.timeout("2 seconds"),
      Effect.forkDetach,
      Effect.flatMap(Fiber.join),
      Effect.timeout("2 seconds")
    )
    const answer = check.pipe(
      Effect.matchEffect({
        onFailure: () => unready("The database cannot be reached."),
        onSuccess: (isCurrent) =>
          isCurrent ? Effect.succeed(ready) : unready("The schema of the database is not the one of this server.")
      })
    )
    yield* router.add("GET", "/readyz", answer)
  })
)

/**
 * Layer that serves these paths.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = Layer.mergeAll(root, healthz, readyz, HttpApiScalar.layer(Api, { path: "/docs" }))
