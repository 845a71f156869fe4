import { describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import * as fc from "fast-check"
import { Entry, List } from "../../src/internal/list.ts"

describe("List", () => {
  it("has the members of a Set in the same order, except that a member added again moves to the end", () => {
    const move = fc.record({ adds: fc.boolean(), which: fc.nat(9) })
    fc.assert(
      fc.property(fc.array(move, { maxLength: 60 }), (moves) => {
        const entries = Array.from({ length: 10 }, (_, value) => new Entry(value))
        const list = new List<number>()
        const set = new Set<number>()
        for (const { adds, which } of moves) {
          const was = set.delete(which)
          if (adds) {
            set.add(which)
            list.add(entries[which]!)
          } else {
            strictEqual(list.delete(entries[which]!), was)
          }
          deepStrictEqual([...list], [...set])
          strictEqual(list.size, set.size)
          strictEqual(list.first, [...set][0])
        }
      }),
      { numRuns: 500 }
    )
  })

  it("allows deletions and additions during an iteration", () => {
    const entries = Array.from({ length: 4 }, (_, value) => new Entry(value))
    const list = new List<number>()
    for (const entry of entries.slice(0, 3)) list.add(entry)
    const seen: Array<number> = []
    for (const value of list) {
      seen.push(value)
      list.delete(entries[value]!)
      list.add(entries[3]!)
    }
    deepStrictEqual(seen, [0, 1, 2])
    deepStrictEqual([...list], [3])
  })

  it("does not delete an entry of another list", () => {
    const entry = new Entry("here")
    const here = new List<string>()
    const there = new List<string>()
    here.add(entry)
    strictEqual(there.delete(entry), false)
    deepStrictEqual([...here], ["here"])
  })

  it("removes an added entry from its previous list", () => {
    const entries = ["first", "second", "third"].map((value) => new Entry(value))
    const here = new List<string>()
    const there = new List<string>()
    for (const entry of entries) here.add(entry)
    there.add(entries[1]!)
    deepStrictEqual([[...here], here.size], [["first", "third"], 2])
    deepStrictEqual([[...there], there.size], [["second"], 1])
  })

  it("keeps no reference to a deleted entry, nor a deleted entry one to its neighbors", () => {
    const [first, second, third] = [new Entry(1), new Entry(2), new Entry(3)]
    const list = new List<number>()
    for (const entry of [first, second, third]) list.add(entry)
    list.delete(second)
    deepStrictEqual([second.list, second.previous, second.next], [undefined, undefined, undefined])
    deepStrictEqual([first.next, third.previous], [third, first])
  })
})
