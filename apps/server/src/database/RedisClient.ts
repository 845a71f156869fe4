/**
 * The connection to the Redis that the processes of a deployment share their limits in.
 */
import { Context, Effect, Layer, References } from "effect"
import * as ThrottledLog from "../observability/ThrottledLog.ts"

/** Begins every key. */
export const prefix = "govoice:ratelimit:"

/** How long a request waits for Redis. */
export const timeout = "250 millis"

/** The log of the outages, which all users of the connection write to. */
export class OutageLog extends Context.Service<OutageLog, ThrottledLog.ThrottledLog>()(
  "@govoice/server/database/RedisClient/OutageLog"
) {}

/** Provides `OutageLog`. */
export const layerOutageLog: Layer.Layer<OutageLog> = Layer.sync(OutageLog)(() =>
  ThrottledLog.make({
    down: "Redis unavailable; each process counts its limits alone",
    recovered: "Redis available again"
  })
)

const reconnectMs = (retries: number): number => Math.min(50 * 2 ** retries, 2000)

/** Provides the connection to the Redis at `url`. */
export const layer = (url: string) =>
  Layer.unwrap(
    Effect.map(
      // Loaded on demand: the client of Redis is larger than the rest of the server.
      Effect.promise(() => import("@effect/platform-node/NodeRedis")),
      (NodeRedis) => {
        let wasConnected = false
        // The users of the connection log its outages, throttled; the client would log every attempt to reconnect.
        const quiet = Layer.succeed(References.MinimumLogLevel)("Error")
        const client = NodeRedis.layer({
          url,
          disableOfflineQueue: true,
          socket: {
            connectTimeout: 5000,
            // A Redis that is unreachable at the start is a mistake in the settings. Later it is an outage.
            reconnectStrategy: (retries, cause) => (wasConnected ? reconnectMs(retries) : cause)
          }
        }).pipe(Layer.provide(quiet))
        return Layer.tap(client, () => Effect.sync(() => void (wasConnected = true)))
      }
    )
  )
