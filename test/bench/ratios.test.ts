/** The verdict of benchmarks: medians, ratios within a round, and goals. */
import { describe, expect, it } from "vitest"
import { type Comparison, isMet, judge, median, ratiosOf, spreadOf } from "../../bench/ratios.ts"
import { inTurn } from "../../bench/variants.ts"

const comparison: Comparison = {
  figure: "requests/s",
  measured: [110, 300, 90],
  reference: "the floor",
  beside: [100, 200, 100],
  atLeast: 1.1
}

describe("median", () => {
  it("returns the middle value of unsorted values", () => {
    expect(median([9, 1, 10])).toBe(9)
  })

  it("returns the mean of the two middle values of an even number of values", () => {
    expect(median([4, 1, 3, 10])).toBe(3.5)
  })

  it("returns NaN without values", () => {
    expect(median([])).toBeNaN()
  })
})

describe("the ratios of two measurements", () => {
  it("are taken within a round", () => {
    expect(ratiosOf([110, 300], [100, 200])).toEqual([1.1, 1.5])
  })

  it("need as many rounds on both sides", () => {
    expect(() => ratiosOf([1, 2], [1])).toThrow("as many rounds on both sides, got 2 and 1")
  })

  it("have a spread from the least to the greatest", () => {
    expect(spreadOf([1.5, 0.9, 1.1])).toBe("0.90 – 1.50")
  })
})

describe("the verdict on a goal", () => {
  it("depends on the median of the ratios, not on the ratio of the medians", () => {
    // The medians are 110 and 100, the ratios 1.1, 0.5 and 1.2.
    expect(isMet({ ...comparison, measured: [110, 50, 120], beside: [100, 100, 100], atLeast: 1.1 })).toBe(true)
    expect(isMet({ ...comparison, measured: [100, 120, 30], beside: [100, 60, 20], atLeast: 1.5 })).toBe(true)
    expect(isMet({ ...comparison, measured: [100, 120, 30], beside: [100, 60, 20], atLeast: 1.6 })).toBe(false)
  })

  it("does not depend on the speed of the machine", () => {
    const slow = (values: ReadonlyArray<number>) => values.map((value) => value / 8)
    for (const goal of [{ atLeast: 1.1 }, { atLeast: 1.2 }]) {
      const fast = { ...comparison, ...goal }
      expect(isMet({ ...fast, measured: slow(fast.measured), beside: slow(fast.beside) })).toBe(isMet(fast))
    }
  })

  it("depends on a lower limit, an upper limit, or both", () => {
    const { atLeast: _, ...free } = comparison
    expect(isMet({ ...free, atMost: 1.1 })).toBe(true)
    expect(isMet({ ...free, atMost: 1.05 })).toBe(false)
    expect(isMet({ ...free, atLeast: 1, atMost: 1.05 })).toBe(false)
  })

  it("is missed where no value was measured", () => {
    expect(isMet({ ...comparison, measured: [], beside: [] })).toBe(false)
    expect(isMet({ ...comparison, measured: [0], beside: [0] })).toBe(false)
  })

  it("is missed for a count above its limit of 0", () => {
    const none = { figure: "sockets", reference: "in flight", beside: [50], atMost: 0 }
    expect(judge([{ ...none, measured: [0] }]).exitCode).toBe(0)
    expect(judge([{ ...none, measured: [1] }]).exitCode).toBe(1)
  })

  it("makes the report fail when one goal is missed, with both figures, the ratio and its spread", () => {
    const missed: Comparison = { figure: "p99, ms", measured: [3], reference: "the floor", beside: [1.5], atMost: 1.5 }
    const { exitCode, report } = judge([comparison, missed])
    expect(exitCode).toBe(1)
    expect(report).toContain("| requests/s | 110 | the floor | 100 | 1.10 | 0.90 – 1.50 | ≥ 1.1 | met |")
    expect(report).toContain("| p99, ms | 3 | the floor | 1.5 | 2.00 | 2.00 – 2.00 | ≤ 1.5 | **missed** |")
    expect(judge([comparison]).exitCode).toBe(0)
  })
})

describe("the turns of two sides", () => {
  it("are reversed every other round", () => {
    expect([0, 1, 2].map((round) => inTurn(["a", "b"], round).join(""))).toEqual(["ab", "ba", "ab"])
  })
})
