/** The bodies of the benchmark of verification have their sizes, whatever an event gains. */
import { assert, describe, it } from "vitest"
import { eventOfSize } from "../../bench/webhooks/events.ts"

describe("an event to verify", () => {
  it.each(["text", "realistic"] as const)("of the shape %s has its size", (shape) => {
    for (const text of ["ASCII", "Polish"] as const) {
      for (const size of [2048, 10_240]) assert.lengthOf(eventOfSize(shape, size, text).body, size)
    }
  })
})
