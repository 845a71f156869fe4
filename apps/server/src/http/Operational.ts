/**
 * What is not the API itself: where things are, whether the process lives, whether it can work, what the contract says.
 *
 * @since 0.1.0
 */
import { Api } from "@govoice/api"
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { HttpApiScalar } from "effect/http-api"
import { SqlClient } from "effect/sql"
import { version } from "../version.ts"
import { retryAfterSeconds } from "./Responses.ts"

const json = (body: unknown, status = 200): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.text(JSON.stringify(body), { status, contentType: "application/json" })

const root = HttpRouter.add(
  "GET",
  "/",
  json({ name: "Govoice", version, docs: "/docs", openapi: "/openapi.json", health: "/healthz", ready: "/readyz" })
)

const healthz = HttpRouter.add("GET", "/healthz", json({ status: "ok" }))

// Ready means that the database answers, and that its schema is the one this process was built for.
const readyz = HttpRouter.use((router) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const answers = sql`SELECT 1`.pipe(Effect.timeout("2 seconds"), Effect.result)

    yield* router.add(
      "GET",
      "/readyz",
      Effect.map(answers, ({ _tag }) =>
        _tag === "Success"
          ? json({ status: "ready", checks: { database: "ok" } })
          : json({ status: "unavailable", checks: { database: "unreachable" } }, 503).pipe(
              HttpServerResponse.setHeader("retry-after", String(retryAfterSeconds))
            )
      )
    )
  })
)

/**
 * Layer that serves these paths.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = Layer.mergeAll(root, healthz, readyz, HttpApiScalar.layer(Api, { path: "/docs" }))
