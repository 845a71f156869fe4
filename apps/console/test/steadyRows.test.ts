/**
 * Polling never moves rows.
 */
import { assert, describe, it } from "vitest"
import { first, leftOf, merge, pageSize, replace, waitingOf } from "../src/api/steadyRows.ts"

const row = (id: string, status = "pending") => ({ id, status })
const ids = (rows: ReadonlyArray<{ readonly id: string }>) => rows.map(({ id }) => id).join("")

describe("rows of a list", () => {
  const shown = first("all", [row("d"), row("c"), row("b")])

  it("keep their places while newer rows wait", () => {
    const merged = merge(shown, [row("f"), row("e"), row("d"), row("c")])
    assert.strictEqual(ids(merged.rows), "dcb")
    assert.strictEqual(ids(merged.newer), "fe")
  })

  it("that wait are counted, with a plus if a whole page is new", () => {
    assert.strictEqual(waitingOf(merge(shown, [row("d"), row("c")])), undefined)
    assert.strictEqual(waitingOf(merge(shown, [row("f"), row("e"), row("d")])), "2")
    assert.strictEqual(waitingOf(merge(shown, [row("g"), row("f"), row("e")])), "3")
    const page = Array.from({ length: pageSize }, (_, n) => row(`e${n}`))
    assert.strictEqual(waitingOf(merge(shown, page)), "50+")
    assert.strictEqual(waitingOf(merge(shown, [...page.slice(1), row("d")])), "49")
  })

  it("change in place", () => {
    const merged = merge(shown, [row("d"), row("c", "succeeded"), row("b")])
    assert.deepStrictEqual(
      merged.rows.map(({ status }) => status),
      ["pending", "succeeded", "pending"]
    )
  })

  it("that left the page keep their last state", () => {
    assert.strictEqual(ids(merge(shown, [row("d"), row("b")]).rows), "dcb")
  })

  it("that left the page are read one by one while their status can change, ten at a time", () => {
    const mayChange = ({ status }: { readonly status: string }) => status === "pending"
    const merged = merge(first("all", [row("d"), row("c", "failed"), row("b")]), [row("b")])
    assert.deepStrictEqual(leftOf(merged, mayChange, 0), [row("d")])
    assert.deepStrictEqual(leftOf(replace(merged, [row("d", "succeeded")]), mayChange, 0), [])
    const page = Array.from({ length: pageSize }, (_, n) => row(`e${n}`))
    const left = merge(first("all", page), [])
    assert.lengthOf(leftOf(left, mayChange, 0), 10)
    const turns = [0, 1, 2, 3, 4].flatMap((turn) => leftOf(left, mayChange, turn * 15_000))
    assert.deepStrictEqual(turns, page, "each has its turn")
    assert.deepStrictEqual(leftOf(left, mayChange, 5 * 15_000), leftOf(left, mayChange, 0))
  })

  it("are replaced in their places by the records read for them, and are unchanged without any", () => {
    const read = row("c", "succeeded")
    assert.deepStrictEqual(replace(shown, [read, row("z")]).rows, [row("d"), read, row("b")])
    assert.strictEqual(replace(shown, []), shown)
  })

  it("of an older page do not count as new", () => {
    assert.strictEqual(ids(merge(shown, [row("d"), row("c"), row("a")]).newer), "")
  })

  it("appear at once in an empty list", () => {
    assert.strictEqual(ids(merge(first("all", []), [row("a")]).rows), "a")
  })
})
