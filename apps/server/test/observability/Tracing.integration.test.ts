/** A collector that accepts connections and never answers. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { once } from "node:events"
import { type AddressInfo, createServer, type Socket } from "node:net"
import * as Tracing from "../../src/observability/Tracing.ts"
import { read } from "../../src/settings/Settings.ts"
import { realSleep } from "../support/FastClock.ts"

describe("A collector that does not answer", () => {
  it.live("has no more connections after a moment, and the log says that no traces are exported", () =>
    Effect.gen(function* () {
      const open = new Set<Socket>()
      let connections = 0
      const collector = createServer((socket) => {
        connections++
        open.add(socket)
        socket.on("error", () => {}).resume()
        socket.once("close", () => open.delete(socket))
      })
      yield* Effect.addFinalizer(() =>
        Effect.sync(() => {
          for (const socket of open) socket.destroy()
          collector.close()
        })
      )
      collector.listen(0, "127.0.0.1")
      yield* Effect.promise(() => once(collector, "listening"))
      const settings = read({
        GOVOICE_DATA_DIR: "memory",
        OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}`
      })
      const logged: Array<string> = []
      const logger = Logger.make(({ message }) => void logged.push(String(message)))
      const spans = Effect.forEach(Array.from({ length: 1500 }), () => Effect.withSpan(Effect.void, "span"), {
        discard: true
      })
      yield* Effect.gen(function* () {
        for (let batch = 0; batch < 3; batch++) yield* spans
        while (logged.length === 0 || open.size > 0) yield* realSleep(50)
        const before = connections
        assert.isAtLeast(before, 4)
        // Now they are dropped. One export may have begun before.
        for (let batch = 0; batch < 3; batch++) yield* spans
        yield* realSleep(500)
        assert.isAtMost(connections, before + 1)
        assert.deepStrictEqual(logged, ["Traces are not exported"])
      }).pipe(Effect.provide(Tracing.layer(settings)), Effect.provide(Logger.layer([logger])))
    }).pipe(Effect.scoped)
  )
})
