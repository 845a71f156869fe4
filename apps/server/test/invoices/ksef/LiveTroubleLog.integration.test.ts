import { assert, layer } from "@effect/vitest"
import { Effect, Logger } from "effect"
import * as live from "../../support/live.ts"
import * as simulated from "../../support/simulated.ts"
import { layerPostgres } from "../../support/TestDatabase.ts"

layer(layerPostgres, { timeout: "120 seconds", excludeTestServices: true })("an outage of KSeF", (it) => {
  it.effect("has one warning when invoices begin to wait, and one line when they do not any more", () =>
    Effect.gen(function* () {
      const lines: Array<string> = []
      const capture = Logger.make<unknown, void>(({ logLevel, message }) => {
        const text = Array.isArray(message) ? message.join(" ") : String(message)
        if (text.includes("wait for KSeF")) lines.push(`${logLevel} ${text}`)
      })
      yield* simulated
        .simulate({ grainMs: 1000 }, (simulation) =>
          live.withDeployment(
            simulation.ksef,
            Effect.gen(function* () {
              const { ksef } = simulation
              const organizationId = yield* live.taxpayer(ksef)
              ksef.faults.add({ do: "5xx", on: "*", times: "always" })
              yield* simulated.submitNumbers(organizationId, ksef.nip, 1, 50)
              yield* simulated.passes(simulation, 60_000)
              ksef.faults.clear()
              yield* live.finished()
              yield* live.poll(
                Effect.sync(() => lines.length),
                (length) => length === 2
              )
              yield* simulated.passes(simulation, 60_000)
            }),
            { rescueMs: 10_000 }
          )
        )
        .pipe(Effect.provide(Logger.layer([capture])))
      assert.deepStrictEqual(lines, [
        "Warn Invoices of a taxpayer wait for KSeF",
        "Info Invoices of a taxpayer do not wait for KSeF any more"
      ])
    })
  )
})
