import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { checkDatabase } from "../../src/commands/doctor.ts"
import { shifted } from "../../src/database/DatabaseClock.ts"
import { acquire } from "../support/TestDatabase.ts"
import * as TestSettings from "../support/TestSettings.ts"

const minuteMs = 60_000
const hourMs = 60 * minuteMs

const examine = Effect.fnUntraced(function* (url: string, offsetMs: number) {
  // The clock of this machine is that of the database.
  const clock = shifted(yield* Clock.Clock, () => offsetMs)
  const settings = TestSettings.settings({ database: { _tag: "Postgres", url } })
  const findings = yield* Effect.provideService(checkDatabase(settings), Clock.Clock, clock)
  const found = findings.filter((finding) => finding.check === "clock")
  assert.lengthOf(found, 1, JSON.stringify(findings))
  return found[0]!
})

describe("the doctor on the clock", () => {
  it.live("measures how far the process is from the database, ahead and behind", () =>
    Effect.gen(function* () {
      const url = yield* acquire
      assert.strictEqual((yield* examine(url, 0)).level, "ok")
      for (const offsetMs of [hourMs, -hourMs]) {
        const { level, message, remedy } = yield* examine(url, offsetMs)
        assert.strictEqual(level, "fault")
        const [, measured] = /differs from the database by (\d+) ms/.exec(message) ?? []
        // The statement may take a while.
        assert.approximately(Number(measured), hourMs, minuteMs, message)
        assert.include(remedy, "NTP")
      }
    })
  )
})
