import { assert, describe, it } from "vitest"
import * as EndpointScan from "../../src/webhooks/EndpointScan.ts"

/** The page of a statement that may scan `limit` endpoints, and found these. */
const page = (limit: number, ...endpoints: ReadonlyArray<string>): EndpointScan.ScannedPage => ({
  ended: endpoints.length < limit,
  last: endpoints.at(-1) ?? null,
  resumeCursors: []
})

const cursor = (endpoint: string, since = "1"): EndpointScan.ResumeCursor => ["org", endpoint, since]

/** Scans pages of at most two endpoints out of these, until all are visited. */
const round = (scan: EndpointScan.EndpointScan, endpoints: ReadonlyArray<string>) => {
  const pages: Array<ReadonlyArray<string>> = []
  let current = EndpointScan.beginRound(scan, true)
  for (let turns = 0; turns < 10; turns++) {
    const next = endpoints.filter((endpoint) => endpoint > current.after).slice(0, 2)
    pages.push(next)
    const { scan, visitedAll } = EndpointScan.advance(current, page(2, ...next))
    current = scan
    if (visitedAll) return { pages, scan: current }
  }
  return assert.fail(`The round does not end: ${JSON.stringify(pages)}`)
}

const endpoints = ["a", "b", "c", "d", "e"]

describe("EndpointScan", () => {
  it("visits every endpoint once in a round that begins at the first", () => {
    const { pages, scan } = round(EndpointScan.initial, endpoints)
    assert.deepStrictEqual(pages, [["a", "b"], ["c", "d"], ["e"]])
    assert.strictEqual(scan.after, EndpointScan.start)
  })

  it("wraps around in a round that begins behind an endpoint, and visits the rest", () => {
    const { pages } = round({ ...EndpointScan.initial, after: "c" }, endpoints)
    assert.deepStrictEqual(pages, [["d", "e"], [], ["a", "b"], ["c", "d"]])
  })

  it("ends at once when there is no endpoint", () => {
    assert.deepStrictEqual(round(EndpointScan.initial, []).pages, [[]])
    assert.deepStrictEqual(round({ ...EndpointScan.initial, after: "c" }, []).pages, [[], []])
  })

  it("begins the next round behind the last endpoint that was scanned", () => {
    const { scan } = EndpointScan.advance(EndpointScan.beginRound(EndpointScan.initial, false), page(2, "a", "b"))
    assert.strictEqual(EndpointScan.beginRound(scan, false).after, "b")
    assert.isFalse(EndpointScan.beginRound(scan, false).wrapped)
  })

  it("has reached the end only after a statement that found fewer endpoints than it may scan", () => {
    const begun = EndpointScan.beginRound(EndpointScan.initial, false)
    assert.isFalse(EndpointScan.advance(begun, page(2, "a", "b")).reachedEnd)
    assert.isTrue(EndpointScan.advance(begun, page(2, "a")).reachedEnd)
    const later = EndpointScan.beginRound({ ...EndpointScan.initial, after: "c" }, false)
    assert.isFalse(EndpointScan.advance(later, page(2, "d")).reachedEnd)
  })

  it("drops the resume cursors in a round that does not resume, and when there are too many", () => {
    const many = Array.from({ length: 1001 }, (_, n) => cursor(`e${n}`))
    const with3 = { ...EndpointScan.initial, resumeCursors: ["a", "b", "c"].map((endpoint) => cursor(endpoint)) }
    assert.lengthOf(EndpointScan.beginRound(with3, true).resumeCursors, 3)
    assert.lengthOf(EndpointScan.beginRound(with3, false).resumeCursors, 0)
    assert.lengthOf(EndpointScan.beginRound({ ...with3, resumeCursors: many }, true).resumeCursors, 0)
  })

  it("keeps the resume cursors of its own partitions when there are too many", () => {
    const foreign = Array.from({ length: 1000 }, (_, n) => cursor(`e${n}`))
    const own: EndpointScan.ResumeCursor = ["org_a", "x", "1"]
    const many = { ...EndpointScan.initial, resumeCursors: [...foreign, own] }
    assert.deepStrictEqual(EndpointScan.beginRound(many, true, ["a"]).resumeCursors, [own])
    assert.deepStrictEqual(EndpointScan.beginRound(many, true).resumeCursors, [])
  })

  it("keeps no more resume cursors during a round than between two, those of its own partitions first", () => {
    const own: EndpointScan.ResumeCursor = ["org_a", "x", "1"]
    let scan = EndpointScan.beginRound(EndpointScan.initial, true, ["a"])
    for (let n = 0; n < 5; n++) {
      const foreign = Array.from({ length: 999 }, (_, m) => cursor(`e${n}${String(m).padStart(3, "0")}`))
      const resumeCursors = n === 0 ? [...foreign, own] : foreign
      const scanned = { ended: false, last: `e${n}999`, resumeCursors }
      scan = EndpointScan.advance(scan, scanned, ["a"]).scan
      assert.isAtMost(scan.resumeCursors.length, 1000)
      assert.deepInclude(EndpointScan.resumeCursorsAhead(scan), own)
    }
    // It keeps new cursors of other partitions while there are few.
    const one = EndpointScan.advance(scan, { ended: true, last: "y", resumeCursors: [cursor("y")] }, ["a"]).scan
    assert.deepInclude(one.resumeCursors, cursor("y"))
  })

  it("gives a statement the resume cursors behind its first endpoint", () => {
    const scan = { ...EndpointScan.initial, after: "b", resumeCursors: ["a", "b", "c", "d"].map((one) => cursor(one)) }
    assert.deepStrictEqual(EndpointScan.resumeCursorsAhead(scan), [cursor("c"), cursor("d")])
  })

  it("replaces the resume cursors that a statement has passed, in order", () => {
    const resumeCursors = ["a", "c", "d", "f"].map((one) => cursor(one, "old"))
    const scan = { ...EndpointScan.initial, after: "b", resumeCursors }
    const scanned = { ...page(2, "c", "d"), resumeCursors: [cursor("d", "new"), cursor("c", "new")] }
    assert.deepStrictEqual(EndpointScan.advance(scan, scanned).scan.resumeCursors, [
      cursor("a", "old"),
      cursor("c", "new"),
      cursor("d", "new"),
      cursor("f", "old")
    ])
    // Having reached the end, it has passed all that were ahead.
    assert.deepStrictEqual(EndpointScan.advance(scan, { ...scanned, ended: true }).scan.resumeCursors, [
      cursor("a", "old"),
      cursor("c", "new"),
      cursor("d", "new")
    ])
  })
})
