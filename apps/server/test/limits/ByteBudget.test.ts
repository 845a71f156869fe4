import * as fc from "fast-check"
import { assert, describe, it } from "vitest"
import * as ByteBudget from "../../src/limits/ByteBudget.ts"

const kibibyte = 1024
const mebibyte = 1024 * kibibyte
const chunkBytes = 64 * kibibyte
const options = { totalBytes: 48 * mebibyte, ownerBytes: 12 * mebibyte, bodyBytes: 4 * mebibyte }

/** A body that arrives in chunks of 64 KiB while it may. */
const makeBody = (memory: ByteBudget.ByteBudget, owner: string, size: number, isChunked = false) => {
  let left = size
  let isPaused = false
  const share = memory.open(owner, isChunked ? undefined : size, () => (isPaused = false))
  return {
    share,
    isPaused: () => isPaused,
    isComplete: () => left === 0,
    arrive: () => {
      const bytes = Math.min(left, chunkBytes)
      left -= bytes
      isPaused = !share.add(bytes) && left > 0
      if (left === 0) share.complete()
    }
  }
}

describe("ByteBudget", () => {
  it("counts received bytes only", () => {
    const memory = ByteBudget.make(options)
    const idle = Array.from({ length: 1000 }, () => memory.open("attacker", options.bodyBytes, () => {}))
    assert.strictEqual(memory.usedBytes(), 0)
    assert.isTrue(memory.open("attacker", options.bodyBytes, () => {}).add(chunkBytes))
    for (const share of idle) share.close()
  })

  it("pauses the bodies of an owner at its share, and no others", () => {
    const memory = ByteBudget.make(options)
    const many = Array.from({ length: 40 }, () => makeBody(memory, "many", options.bodyBytes))
    for (let round = 0; round < 100; round++) {
      for (const body of many) if (!body.isPaused() && !body.isComplete()) body.arrive()
    }
    // A chunk of each body may be on its way when the share is used up.
    assert.isAtMost(memory.usedBytes(), options.ownerBytes + 40 * chunkBytes)
    const one = makeBody(memory, "one", options.bodyBytes)
    while (!one.isComplete()) {
      assert.isFalse(one.isPaused())
      one.arrive()
    }
  })

  it("keeps memory for another owner while many owners are at their shares", () => {
    const memory = ByteBudget.make(options)
    const greedy = Array.from({ length: 64 }, (_, index) => makeBody(memory, String(index % 8), options.bodyBytes))
    for (let round = 0; round < 100; round++) {
      for (const body of greedy.slice(1)) if (!body.isPaused() && !body.isComplete()) body.arrive()
    }
    const modest = makeBody(memory, "modest", 100 * kibibyte)
    modest.arrive()
    assert.isFalse(modest.isPaused())
    modest.arrive()
    assert.isTrue(modest.isComplete())
  })

  it("is exhausted while a body waits for the memory of other owners", () => {
    const memory = ByteBudget.make(options)
    const bodies = Array.from({ length: 400 }, (_, owner) => makeBody(memory, String(owner), 2 * mebibyte))
    for (let round = 0; round < 100; round++) for (const body of bodies) if (!body.isPaused()) body.arrive()
    const last = makeBody(memory, "last", 2 * mebibyte)
    last.arrive()
    assert.isTrue(last.isPaused())
    assert.isTrue(memory.isExhausted())
    for (const body of bodies) body.share.close()
    assert.isFalse(last.isPaused())
    assert.isFalse(memory.isExhausted())
  })

  it("completes all bodies in any order, and frees all memory", () => {
    const body = fc.record({
      owner: fc.nat(15),
      kibibytes: fc.integer({ min: 33, max: 4096 }),
      isChunked: fc.boolean()
    })
    fc.assert(
      fc.property(
        fc.array(body, { minLength: 1, maxLength: 60, size: "max" }),
        fc.infiniteStream(fc.nat(1000)),
        (given, picks) => {
          const memory = ByteBudget.make(options)
          const open = given.map(({ isChunked, kibibytes, owner }) =>
            makeBody(memory, String(owner), kibibytes * kibibyte, isChunked)
          )
          let reading = open
          while (reading.length > 0) {
            const ready = reading.filter((one) => !one.isPaused())
            assert.isNotEmpty(ready, "bodies wait for each other")
            const next = ready[picks.next().value! % ready.length]!
            if (!next.isComplete()) next.arrive()
            else {
              next.share.close()
              reading = reading.filter((one) => one !== next)
            }
            assert.isAtMost(
              memory.usedBytes(),
              options.totalBytes + (given.length + 1) * chunkBytes + options.bodyBytes
            )
          }
          assert.strictEqual(memory.usedBytes(), 0)
        }
      ),
      { numRuns: 50, endOnFailure: true }
    )
  })

  it("completes the bodies of an owner in their order once its share is used", () => {
    const memory = ByteBudget.make(options)
    const bodies = Array.from({ length: 20 }, () => makeBody(memory, "many", 3 * mebibyte))
    for (let round = 0; round < 300; round++) {
      for (const body of bodies) if (!body.isPaused() && !body.isComplete()) body.arrive()
      const complete = bodies.filter((body) => body.isComplete())
      assert.isAtLeast(complete.length, round > 100 ? 1 : 0)
      assert.isTrue(bodies.slice(0, complete.length).every((body) => body.isComplete()))
    }
  })

  it("completes the bodies of an owner while the oldest of all, of another owner, does not arrive", () => {
    const memory = ByteBudget.make(options)
    makeBody(memory, "idle", 4 * mebibyte).arrive()
    let reading = Array.from({ length: 20 }, () => makeBody(memory, "many", 3 * mebibyte))
    for (let round = 0; round < 2000 && reading.length > 0; round++) {
      for (const body of reading) if (!body.isPaused() && !body.isComplete()) body.arrive()
      for (const body of reading) if (body.isComplete()) body.share.close()
      reading = reading.filter((body) => !body.isComplete())
    }
    assert.lengthOf(reading, 0)
  })

  it("frees the memory of a body once, also if it is closed repeatedly", () => {
    const memory = ByteBudget.make(options)
    const share = memory.open("a", undefined, () => {})
    share.add(chunkBytes)
    share.close()
    share.close()
    assert.strictEqual(memory.usedBytes(), 0)
  })
})
