import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { checkListening, checkRedis, checkServing } from "../../src/commands/doctor.ts"
import { metricName } from "../../src/http/middleware/ProxyWarning.ts"
import { startRedis } from "../limits/support/redis.ts"

const serve = (metrics: string) =>
  Effect.acquireRelease(
    Effect.callback<Server>((resume) => {
      const server = createServer((_request, response) => response.end(metrics))
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) =>
      Effect.sync(() => {
        server.closeAllConnections()
        server.close()
      })
  ).pipe(Effect.map((server) => (server.address() as AddressInfo).port))

const examine = (metricsPort: number | undefined, role: "all" | "api" | "worker" = "api", host = "127.0.0.1") =>
  checkServing({ http: { host, port: 3000 }, metricsPort, role })

describe("the doctor beside a server", () => {
  it.effect("warns when most requests come from a proxy that the settings do not name", () =>
    Effect.gen(function* () {
      const port = yield* serve(`# TYPE ${metricName} gauge\n${metricName} 1\nother 0\n`)
      for (const host of ["127.0.0.1", "0.0.0.0"]) {
        const [finding, ...others] = yield* examine(port, "all", host)
        assert.isEmpty(others)
        assert.strictEqual(finding?.level, "warning")
        assert.include(finding?.remedy, "set GOVOICE_TRUSTED_PROXIES to its network")
      }
      assert.isEmpty(yield* examine(port, "worker"))
    })
  )

  it.effect("finds nothing otherwise, without metrics, and without a server", () =>
    Effect.gen(function* () {
      for (const metrics of ["", `${metricName} 0\n`, `${metricName}_other 1\n`, "<html>"]) {
        assert.isEmpty(yield* examine(yield* serve(metrics)))
      }
      for (const port of [undefined, 0, 1]) assert.isEmpty(yield* examine(port))
    })
  )

  it.effect("is content with the server that listens, and warns of any other process", () =>
    Effect.gen(function* () {
      const listening = Effect.fnUntraced(function* (answer: string) {
        const port = yield* serve(answer)
        const [finding] = yield* checkListening({
          http: { host: "127.0.0.1", port },
          metricsPort: undefined,
          role: "api"
        })
        return finding!
      })
      assert.strictEqual((yield* listening('{"status":"ok"}')).level, "ok")
      const other = yield* listening("<html>")
      assert.strictEqual(other.level, "warning")
      assert.include(other.remedy, "set PORT")
    })
  )

  it.live("finds whether the Redis of the limits answers, and names no secret of its URL", () =>
    Effect.gen(function* () {
      const redis = yield* startRedis
      const { host, port } = new URL(redis.url)
      const [answers] = yield* checkRedis({ redisUrl: redis.url, role: "api" })
      assert.deepInclude(answers, { level: "ok", message: `${host} answers` })
      redis.stop()
      const [fails, ...others] = yield* checkRedis({ redisUrl: `redis://user:hidden@127.0.0.1:${port}`, role: "all" })
      assert.isEmpty(others)
      assert.strictEqual(fails?.level, "fault")
      assert.match(fails?.message ?? "", /^Redis at 127\.0\.0\.1:\d+ cannot be used: .*REDIS_URL/)
      assert.notInclude(fails?.message, "hidden")
      assert.isEmpty(yield* checkRedis({ redisUrl: redis.url, role: "worker" }))
      assert.isEmpty(yield* checkRedis({ redisUrl: undefined, role: "api" }))
    })
  )
})
