/** The log on a terminal. */
import { Effect } from "effect"
import { afterEach, assert, describe, it, vi } from "vitest"
import * as logging from "../../src/runtime/logging.ts"
import { read } from "../../src/settings/Settings.ts"

const { isTTY } = process.stdout
afterEach(() => {
  process.stdout.isTTY = isTTY
  vi.restoreAllMocks()
})

describe("The log on a terminal", () => {
  it("prints times and labels in the color of the terminal, which is readable on any background", () => {
    process.stdout.isTTY = true
    const log = vi.spyOn(console, "log").mockImplementation(() => {})
    Effect.runSync(
      Effect.logWarning("Subject").pipe(Effect.annotateLogs({ url: "x" }), Effect.provide(logging.layer(read({}))))
    )
    const printed = log.mock.calls.flat().join("\n")
    assert.match(printed, /^\[\d\d:.*Subject/)
    assert.include(printed, "url:")
    assert.notInclude(printed, "\u001b[37m")
  })
})
