import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { checkListening, checkProxies, checkRedis } from "../../src/commands/doctor.ts"
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

interface Examined {
  readonly metricsPort?: number
  readonly role?: "all" | "api" | "worker"
  readonly host?: string
  readonly trustedProxies?: ReadonlyArray<string>
}

const examine = ({ host = "127.0.0.1", metricsPort, role = "api", trustedProxies = [] }: Examined) =>
  checkProxies({ http: { host, port: 3000 }, metricsPort, role, trustedProxies })

describe("the doctor beside a server", () => {
  it.effect("warns when most requests come from a proxy that the settings do not name", () =>
    Effect.gen(function* () {
      const metricsPort = yield* serve(`# TYPE ${metricName} gauge\n${metricName} 1\nother 0\n`)
      for (const host of ["127.0.0.1", "0.0.0.0"]) {
        for (const trustedProxies of [[], ["10.1.2.0/24"]]) {
          const [finding, ...others] = yield* examine({ host, metricsPort, role: "all", trustedProxies })
          assert.isEmpty(others)
          assert.strictEqual(finding?.level, "warning")
          assert.include(finding?.remedy, "set GOVOICE_TRUSTED_PROXIES to its network")
        }
      }
      const [ofWorker] = yield* examine({ metricsPort, role: "worker" })
      assert.strictEqual(ofWorker?.level, "ok")
    })
  )

  it.effect("is content otherwise, and says what it does not know", () =>
    Effect.gen(function* () {
      for (const metrics of ["", `${metricName} 0\n`, `${metricName}_other 1\n`, "<html>"]) {
        const [finding, ...others] = yield* examine({ metricsPort: yield* serve(metrics) })
        assert.isEmpty(others)
        assert.deepInclude(finding, { level: "ok", check: "proxies" })
        assert.include(finding?.message, "no sign")
      }
      for (const found of [
        yield* examine({}),
        yield* examine({ metricsPort: 0 }),
        yield* examine({ metricsPort: 1 })
      ]) {
        assert.deepInclude(found[0], { level: "ok", check: "proxies" })
        assert.include(found[0]?.message, "GOVOICE_METRICS_PORT")
      }
    })
  )

  it.effect("warns about trusted networks that contain clients", () =>
    Effect.gen(function* () {
      const [finding] = yield* examine({ trustedProxies: ["10.0.0.0/8", "0.0.0.0/0"] })
      assert.strictEqual(finding?.level, "warning")
      assert.include(finding?.message, "GOVOICE_TRUSTED_PROXIES contains 0.0.0.0/0")
      const [named] = yield* examine({ trustedProxies: ["10.0.0.0/8"] })
      assert.deepInclude(named, { level: "ok", message: "trusted: 10.0.0.0/8" })
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
