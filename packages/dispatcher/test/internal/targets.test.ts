import { describe, it, vi } from "@effect/vitest"
import { assertTrue, strictEqual } from "@effect/vitest/utils"
import { Targets } from "../../src/internal/targets.ts"
import { makeAttempt } from "../support/attempts.ts"

const make = (max: number) => {
  const { attempt, engine } = makeAttempt("http://example.com/", { allowHttp: true })
  const seen = { targets: 0 }
  vi.spyOn(engine.instruments, "move").mockImplementation((kind, by) => {
    if (kind === "targets") seen.targets += by
  })
  const targets = new Targets(engine, max)
  return { seen, targets, choose: (address: string) => targets.choose(attempt, [address]) }
}

describe("Targets", () => {
  it("keep count of one that is used after it was forgotten, beside the one that took its place", () => {
    const { choose, seen, targets } = make(10)
    const first = choose("192.0.2.1")
    targets.forget(first)
    targets.forget(first)
    strictEqual(seen.targets, 0)
    const second = choose("192.0.2.1")
    assertTrue(second !== first)

    // A target that was forgotten opens another connection, for an attempt that had chosen it before.
    targets.use(first)
    targets.use(first)
    strictEqual(seen.targets, 2)
    strictEqual(choose("192.0.2.1"), first)
    targets.forget(second)
    strictEqual(seen.targets, 1)
    strictEqual(choose("192.0.2.1"), first)
    targets.close()
    strictEqual(seen.targets, 0)
    assertTrue(choose("192.0.2.1") !== first)
  })

  it("drop those that were not used for longest", () => {
    const { choose, seen } = make(2)
    const [first, second] = [choose("192.0.2.1"), choose("192.0.2.2")]
    strictEqual(choose("192.0.2.1"), first)
    choose("192.0.2.3")
    strictEqual(seen.targets, 2)
    strictEqual(choose("192.0.2.1"), first)
    assertTrue(choose("192.0.2.2") !== second)
  })
})
