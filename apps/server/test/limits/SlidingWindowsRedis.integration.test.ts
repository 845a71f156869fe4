/** Windows in a real Redis. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Logger } from "effect"
import { spawn, spawnSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setImmediate as turn } from "node:timers/promises"
import * as RedisBreaker from "../../src/database/RedisBreaker.ts"
import * as RedisClient from "../../src/database/RedisClient.ts"
import * as SlidingWindows from "../../src/limits/SlidingWindows.ts"
import { freePort } from "../../../../test/support/freePort.ts"

const hasRedis = spawnSync("redis-server", ["--version"]).error === undefined

const startRedis = Effect.acquireRelease(
  Effect.promise(async () => {
    const folder = mkdtempSync(join(tmpdir(), "govoice-redis-"))
    const port = await freePort()
    const redis = spawn("redis-server", ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--dir", folder])
    return { folder, redis, url: `redis://127.0.0.1:${port}` }
  }),
  ({ folder, redis }) =>
    Effect.sync(() => {
      redis.kill("SIGKILL")
      rmSync(folder, { recursive: true, force: true })
    })
)

// A breaker would have this process count alone where a busy machine takes long.
const alwaysRedis = Layer.succeed(RedisBreaker.RedisBreaker)({ orElse: (call) => Effect.orDie(call) })

describe.skipIf(!hasRedis)("windows in a Redis", () => {
  it.live("keep the limits of the networks around those that call at once", () =>
    Effect.gen(function* () {
      const { url } = yield* startRedis
      const context = yield* Layer.build(
        SlidingWindows.layerRedis.pipe(Layer.provide([RedisClient.layer(url), alwaysRedis]))
      )
      const windows = yield* Effect.provide(SlidingWindows.SlidingWindowStore, context)
      const limits = { name: "test", limit: 10, windowMs: 60_000 }
      const window = SlidingWindows.makeForNetworks(windows, limits)
      const network = (n: number) => `2001:db8:1:${n.toString(16)}::/64`
      const countAllowed = (networks: ReadonlyArray<string>) =>
        Effect.map(
          Effect.forEach(networks, window.take, { concurrency: "unbounded" }),
          (waits) => waits.filter((wait) => wait === 0).length
        )
      while ((yield* Effect.exit(window.wait(network(0))))._tag === "Failure") yield* Effect.sleep("50 millis")

      assert.strictEqual(yield* countAllowed(Array<string>(200).fill(network(0))), 10, "of one network")
      assert.strictEqual(yield* countAllowed(Array.from({ length: 200 }, (_, n) => network(n))), 10, "of its /56")
      assert.strictEqual(yield* countAllowed(Array.from({ length: 200 }, (_, n) => network(n * 256))), 20, "of its /48")
      assert.isAbove(yield* window.wait("2001:db8:1:ffff::/64"), 0)
      assert.strictEqual(yield* window.take("2001:db8:2:0::/64"), 0, "another network of 48 bits is not affected")
      assert.strictEqual(yield* window.take("192.0.2.1"), 0)
    }).pipe(Effect.scoped)
  )

  it.live("are used by a process whose event loop is held for longer than a call may take", () =>
    Effect.gen(function* () {
      const { url } = yield* startRedis
      const logged: Array<string> = []
      const logger = Logger.layer([Logger.make(({ message }) => void logged.push(String(message)))])
      const stores = SlidingWindows.layerRedis.pipe(Layer.provide([RedisClient.layer(url), RedisBreaker.layer]))
      const context = yield* Layer.build(stores)
      yield* Effect.gen(function* () {
        const window = (yield* SlidingWindows.SlidingWindowStore).make({ name: "test", limit: 1, windowMs: 60_000 })
        const isOfRedis = Effect.map(window.wait("key"), (wait) => wait > 0)
        // The first events count in this process until there is a connection, and the last in Redis.
        while (!(yield* isOfRedis) || logged.at(-1) === "Redis unavailable; each process counts its own limits") {
          yield* window.take("key")
          yield* Effect.sleep("50 millis")
        }
        logged.length = 0

        // A call is written in the turn after it was made.
        for (const turns of [0, 1, 2, 3]) {
          const call = yield* Effect.forkChild(window.take(`key ${turns}`), { startImmediately: true })
          for (let time = 0; time < turns; time++) yield* Effect.promise(() => turn())
          const heldUntil = performance.now() + 400
          while (performance.now() < heldUntil);
          yield* Fiber.join(call)
          assert.deepStrictEqual(logged, [], `held after ${turns} turns`)
        }
      }).pipe(Effect.provide([logger, Layer.succeedContext(context)]))
    }).pipe(Effect.scoped)
  )
})
