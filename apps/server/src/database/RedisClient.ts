/**
 * The connection to the Redis that the processes of a deployment share their limits in. A process starts and serves without it,
 * and connects again and again until it answers.
 */
import { Effect, Layer } from "effect"
import { Redis } from "effect/persistence"
import { once } from "node:events"

/** Begins every key. */
export const prefix = "govoice:ratelimit:"

/** How long a connection may go without an answer, in milliseconds: neither its greeting nor a command is waited for any longer. */
export const silentTimeoutMs = 10_000

const reconnectMs = (retries: number): number => Math.min(50 * 2 ** retries, 2000)

const unused = Effect.die("The limits reserve no connections and subscribe to no channels.")

/** Provides the connection to the Redis at `url`. What is sent while there is none fails at once, with the reason. */
export const layer = (url: string, silentMs = silentTimeoutMs): Layer.Layer<Redis.Redis> =>
  Layer.effect(
    Redis.Redis,
    Effect.gen(function* () {
      // Loaded on demand: the client of Redis is larger than the rest of the server.
      const { createClient } = yield* Effect.promise(() => import("redis"))
      const client = yield* Effect.acquireRelease(
        Effect.sync(() =>
          createClient({
            url,
            disableOfflineQueue: true,
            socket: {
              connectTimeout: 5000,
              keepAlive: true,
              keepAliveInitialDelay: 10_000,
              // Of the greeting alone: what is written counts too, and later something always is.
              socketTimeout: silentMs,
              reconnectStrategy: reconnectMs
            }
          })
        ),
        // Closing it would wait for the answers to all commands.
        (client) => Effect.sync(() => client.destroy())
      )
      // What is sent fails with the reason; a line for every attempt to connect would tell no more.
      let reason: unknown = new Error("no answer")
      client.on("error", (error) => void (reason = error))
      // Replaces a connection that does not answer. What fails otherwise, the client connects again.
      const watch = Effect.suspend(() =>
        client.isReady
          ? Effect.promise(() => client.ping().catch(() => {})).pipe(
              Effect.timeoutOrElse({
                duration: (silentMs * 2) / 3,
                orElse: () =>
                  Effect.sync(() => {
                    reason = new Error("no answer")
                    client.destroy()
                    client.connect().catch(() => {})
                  })
              })
            )
          : Effect.void
      )
      yield* watch.pipe(Effect.delay(silentMs / 3), Effect.forever, Effect.forkScoped)
      // What is sent during the first attempt to connect waits for it.
      let connecting: Promise<unknown> | undefined = once(client, "ready").catch(() => {})
      void connecting.then(() => void (connecting = undefined))
      client.connect().catch(() => {})

      const send = <A = unknown>(...command: [string, ...ReadonlyArray<string>]): Effect.Effect<A, Redis.RedisError> =>
        Effect.tryPromise({
          try: async () => {
            await connecting
            if (!client.isReady) throw reason
            return (await client.sendCommand(command)) as A
          },
          catch: (cause) => new Redis.RedisError({ cause })
        })
      return yield* Redis.make({ send, connect: unused, subscribe: () => unused })
    })
  )
