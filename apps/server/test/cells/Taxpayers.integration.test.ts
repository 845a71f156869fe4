/** The claims of a cell whose control cell cannot be asked. */
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import * as Taxpayers from "../../src/cells/Taxpayers.ts"
import { OutageLog } from "../../src/database/OutageLog.ts"
import { layerPostgres } from "../support/TestDatabase.ts"
import * as TestSettings from "../support/TestSettings.ts"

const controlDatabase = {
  _tag: "Postgres",
  url: "postgres://127.0.0.1:1/control",
  pooler: undefined,
  connections: 2
} as const

const services = Layer.provideMerge(
  layerPostgres,
  TestSettings.layer({ cell: { name: "b", controlDatabase, targetDatabase: undefined } })
)

layer(services)("a control cell that does not answer", (it) => {
  it.effect("fails what needs it, has lines of its own, and is no outage of the database", () => {
    const logged: Array<unknown> = []
    return Effect.gen(function* () {
      const claims = (yield* Taxpayers.makeClaims)!
      for (const call of [claims.otherCellOf("5265877635"), claims.claim("5265877635")]) {
        assert.strictEqual((yield* Effect.flip(call))._tag, "ControlCellUnavailable")
      }
      assert.deepStrictEqual(logged, ["Control cell unavailable"])
      assert.isUndefined((yield* OutageLog).outage())
    }).pipe(Effect.provide(Logger.layer([Logger.make(({ message }) => void logged.push(String(message)))])))
  })
})
