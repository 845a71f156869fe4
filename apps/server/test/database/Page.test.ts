import { Ids } from "@govoice/core"
import { assert, describe, it } from "vitest"
import * as fc from "fast-check"
import * as Page from "../../src/database/Page.ts"

const id = (at: number): Ids.DeliveryId => Ids.make("wd", at, new Uint8Array(Ids.randomLength))

describe("Page.within", () => {
  const page = { limit: 10, after: undefined }

  it("begins with the identifiers of the first millisecond, and ends before those of the last", () => {
    const { after = "", from = "" } = Page.within(page, "wd", { from: 1000, before: 2000 })
    const contains = (at: number) => id(at) >= from && id(at) < after
    assert.deepStrictEqual([999, 1000, 1999, 2000].map(contains), [false, true, true, false])
  })

  it("continues after the cursor, unless the list begins later", () => {
    const time = { before: 2000 }
    assert.strictEqual(Page.within({ ...page, after: id(1500) }, "wd", time).after, id(1500))
    const later = Page.within({ ...page, after: id(2500) }, "wd", time).after ?? ""
    assert.isTrue(later < id(2000) && later > id(1999))
    assert.strictEqual(Page.within({ ...page, after: id(2500) }, "wd", {}).after, id(2500))
  })
})

describe("Page.merge", () => {
  interface Item {
    readonly id: string
  }

  // A list of numbers that examines `step` of them for a page, of which it returns those that match.
  const list = (numbers: ReadonlyArray<number>, step: number, matches: (number: number) => boolean) => {
    const sorted = [...new Set(numbers)].sort((left, right) => right - left)
    return ({ after, limit }: Page.PageRequest): Page.Page<Item> => {
      const rest = sorted.filter((number) => after === undefined || id(number) < after)
      const examined = rest.slice(0, step)
      const records = examined.filter(matches).map((number) => ({ id: id(number) }))
      if (records.length > limit) return { records: records.slice(0, limit), hasMore: true }
      return rest.length > step
        ? { records, hasMore: true, continueAfter: id(examined.at(-1)!) }
        : { records, hasMore: false }
    }
  }

  it("reads every record of every list once, newest first", () => {
    fc.assert(
      fc.property(
        fc.array(fc.uniqueArray(fc.nat(400), { maxLength: 60 }), { maxLength: 5 }),
        fc.integer({ min: 1, max: 7 }),
        fc.integer({ min: 1, max: 30 }),
        fc.integer({ min: 1, max: 4 }),
        (parts, limit, step, divisor) => {
          // Each number is in one list only.
          const seen = new Set<number>()
          const unique = parts.map((numbers) => numbers.filter((number) => !seen.has(number) && seen.add(number)))
          const matches = (number: number) => number % divisor === 0
          const lists = unique.map((numbers) => list(numbers, step, matches))
          const read: Array<string> = []
          let after: string | undefined
          for (let pages = 0; ; pages++) {
            assert.isBelow(pages, 1000)
            const request = { limit, after }
            const page = Page.merge(
              lists.map((each) => each(request)),
              request
            )
            assert.isAtMost(page.records.length, limit)
            read.push(...page.records.map((record) => record.id))
            if (!page.hasMore) break
            after = page.continueAfter ?? page.records.at(-1)!.id
          }
          const expected = [...seen].filter(matches).sort((left, right) => right - left)
          assert.deepStrictEqual(read, expected.map(id))
        }
      )
    )
  })
})
