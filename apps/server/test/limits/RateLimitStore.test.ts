import { assert, layer } from "@effect/vitest"
import { Duration, Effect, Layer, Logger } from "effect"
import { RateLimiter } from "effect/persistence"
import { once } from "node:events"
import * as net from "node:net"
import * as RedisClient from "../../src/database/RedisClient.ts"
import * as RateLimitStore from "../../src/limits/RateLimitStore.ts"

/** Reads commands in the protocol of Redis, and returns their names. */
const readCommands = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/\*\d+\r\n\$\d+\r\n([A-Za-z]+)\r\n/g)].map(([, name]) => name!.toUpperCase())

/** A Redis that answers that 41 tokens are left, until it is stopped. */
const startRedis = Effect.acquireRelease(
  Effect.promise(async () => {
    const sockets = new Set<net.Socket>()
    const server = net.createServer((socket) => {
      sockets.add(socket)
      socket
        .on("error", () => {})
        .on("data", (data) => {
          for (const name of readCommands(data.toString("latin1"))) {
            socket.write(name.startsWith("EVAL") ? "*2\r\n:41\r\n:0\r\n" : "+OK\r\n")
          }
        })
    })
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    const stop = () => {
      server.close()
      for (const socket of sockets) socket.destroy()
    }
    return { url: `redis://127.0.0.1:${(server.address() as net.AddressInfo).port}`, stop }
  }),
  ({ stop }) => Effect.sync(stop)
)

const take = (store: RateLimiter.RateLimiterStore["Service"], key: string) =>
  Effect.map(
    store.tokenBucket({ key, tokens: 1, limit: 3, refillRate: Duration.hours(1), allowOverflow: false }),
    ([remaining]) => remaining
  )

layer(Layer.empty, { excludeTestServices: true })("RateLimitStore", (it) => {
  it.effect("counts in Redis, and in this process with the same limits after Redis has died", () =>
    Effect.gen(function* () {
      const logged: Array<string> = []
      const logger = Logger.layer([Logger.make(({ message }) => void logged.push(String(message)))])
      const redis = yield* startRedis
      const store = yield* Effect.provide(
        RateLimiter.RateLimiterStore,
        yield* Layer.build(
          RateLimitStore.layerRedis.pipe(
            Layer.provide(RedisClient.layer(redis.url)),
            Layer.provide(RedisClient.layerOutageLog)
          )
        )
      )
      const remaining: Array<number> = []
      const takeSome = Effect.gen(function* () {
        for (let n = 0; n < 5; n++) remaining.push(yield* take(store, "key_1"))
      }).pipe(Effect.provide(logger))
      yield* takeSome
      assert.deepStrictEqual(remaining.splice(0), [41, 41, 41, 41, 41])
      redis.stop()
      yield* takeSome
      // Not enough tokens are left from the fourth on.
      assert.deepStrictEqual(remaining, [2, 1, 0, -1, -1])
      assert.strictEqual(yield* take(store, "key_2"), 2)
      assert.deepStrictEqual(logged, ["Redis unavailable; each process counts its limits alone"])
    })
  )
})
