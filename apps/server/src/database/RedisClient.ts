/**
 * The connection to the Redis that the processes of a deployment share their limits in.
 */
import { Context, Effect, Layer, References } from "effect"
import { reasonOf } from "../observability/reasonOf.ts"
import { DeploymentError } from "../settings/DeploymentError.ts"

/** Begins every key. */
export const prefix = "govoice:ratelimit:"

/** How long the start waits for a Redis that accepts the connection and does not answer, in milliseconds. */
export const startTimeoutMs = 10_000

/** How long a connection may be silent in both directions, in milliseconds: its greeting is not waited for any longer. */
export const silentTimeoutMs = 10_000

const reconnectMs = (retries: number): number => Math.min(50 * 2 ** retries, 2000)

interface Options {
  readonly startTimeoutMs?: number
  readonly silentTimeoutMs?: number
}

/** Provides the connection to the Redis at `url`. */
export const layer = (
  url: string,
  { silentTimeoutMs: silentMs = silentTimeoutMs, startTimeoutMs: waitMs = startTimeoutMs }: Options = {}
) =>
  Layer.unwrap(
    Effect.map(
      // Loaded on demand: the client of Redis is larger than the rest of the server.
      Effect.promise(() => import("@effect/platform-node/NodeRedis")),
      (NodeRedis) => {
        let wasConnected = false
        // The client waits without a limit for the answer to its greeting.
        const start = new AbortController()
        const timer = setTimeout(() => start.abort(new Error(`no answer within ${waitMs} ms`)), waitMs)
        // The users of the connection log its outages, throttled; the client would log every attempt to reconnect.
        const quiet = Layer.succeed(References.MinimumLogLevel)("Error")
        const client = NodeRedis.layer({
          url,
          disableOfflineQueue: true,
          // Keeps a connection that nobody uses from being silent.
          pingInterval: silentMs / 3,
          socket: {
            connectTimeout: 5000,
            keepAlive: true,
            keepAliveInitialDelay: 10_000,
            socketTimeout: silentMs,
            signal: start.signal,
            // A Redis that is unreachable at the start is a mistake in the settings. Later it is an outage.
            reconnectStrategy: (retries, cause) => (wasConnected ? reconnectMs(retries) : cause)
          }
        }).pipe(
          Layer.provide(quiet),
          Layer.catch((error) => {
            clearTimeout(timer)
            return Layer.effectContext(
              new DeploymentError({
                message: `Redis at ${new URL(url).host} cannot be used: ${reasonOf(start.signal.reason ?? error)}. Check REDIS_URL, and that Redis is running.`
              })
            )
          })
        )
        return Layer.tap(client, (context) => {
          wasConnected = true
          clearTimeout(timer)
          // Closing it would wait for the answers to all commands.
          return Effect.addFinalizer(() =>
            Effect.sync(() => Context.get(context, NodeRedis.NodeRedis).client.destroy())
          )
        })
      }
    )
  )
