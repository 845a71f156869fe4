import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import * as Slots from "../../src/limits/Slots.ts"

interface Job {
  readonly group: string
  readonly cost: number
}

const fail = () => assert.fail("a job was dropped")

const make = (maxSize = 1000, maxSizePerGroup = 1000, onDropped: (job: Job) => void = fail) =>
  Slots.makeQueue<Job>({ maxSize, maxSizePerGroup, onDropped })

/** Takes jobs and charges them at once. */
const drain = (queue: Slots.FairQueue<Job>, count = Infinity): ReadonlyArray<string> => {
  const groups: Array<string> = []
  for (let taken = queue.take(); taken !== undefined; taken = queue.take()) {
    taken.charge(taken.job.cost)
    groups.push(taken.job.group)
    if (groups.length === count) break
  }
  return groups
}

const ownerOf = (account: string, organization: string) => ({
  accountId: `acct_${account}` as const,
  organizationId: `org_${organization}` as const
})

const addMany = (queue: Slots.FairQueue<Job>, group: string, cost: number, count: number): void => {
  for (let job = 0; job < count; job++) assert.isTrue(queue.add(group, { group, cost }))
}

describe("FairQueue", () => {
  it("returns the jobs of one group in the order of their arrival", () => {
    const queue = make()
    for (const cost of [1, 2, 3]) queue.add("a", { group: "a", cost })
    assert.deepStrictEqual([queue.take()?.job.cost, queue.take()?.job.cost, queue.take()?.job.cost], [1, 2, 3])
    assert.isUndefined(queue.take())
  })

  it("gives groups the same cost, not the same number of jobs", () => {
    const queue = make()
    addMany(queue, "expensive", 10, 10)
    addMany(queue, "cheap", 1, 100)
    const served = drain(queue, 55)
    assert.strictEqual(served.filter((group) => group === "expensive").length, 5)
  })

  it("serves a group that arrives late next, and lets it catch up on nothing", () => {
    const queue = make()
    addMany(queue, "early", 10, 50)
    drain(queue, 20)
    addMany(queue, "late", 10, 20)
    const served = drain(queue, 10)
    assert.strictEqual(served[0], "late")
    assert.strictEqual(served.filter((group) => group === "late").length, 5)
  })

  it("divides time between accounts first, and then between the organizations of each", () => {
    const queue = make()
    const add = (account: string, organization: string, cost: number) =>
      assert.isTrue(queue.add(ownerOf(account, organization), { group: organization, cost }))
    for (let organization = 0; organization < 100; organization++) add("many", `many ${organization}`, 10)
    for (let job = 0; job < 5; job++) add("many", "many 0", 10)
    for (let job = 0; job < 5; job++) add("one", "one", 10)
    const served = drain(queue, 10)
    assert.lengthOf(
      served.filter((group) => group === "one"),
      5
    )
    assert.strictEqual(new Set(served).size, 6, "each time another organization of the account")
  })

  it("makes room in the account that has most, and between the organizations of one", () => {
    const dropped: Array<string> = []
    const queue = make(20, 10, ({ group }) => dropped.push(group))
    const add = (account: string, organization: string) =>
      queue.add(ownerOf(account, organization), { group: organization, cost: 1 })
    for (let organization = 0; organization < 16; organization++) assert.isTrue(add("many", `many ${organization}`))
    for (let job = 0; job < 4; job++) assert.isTrue(add("one", "one"))
    assert.isTrue(add("one", "one"))
    assert.isTrue(add("two", "two"))
    assert.isFalse(add("many", "new"), "another has no more than it would have")
    assert.isTrue(dropped.every((group) => group.startsWith("many")))
    assert.lengthOf(dropped, 2)
    for (let job = 0; job < 4; job++) assert.isTrue(add("one", "other"))
    assert.isFalse(add("one", "other"), "no other account or organization has more than it would have")
    assert.isTrue(add("one", "third"), "an organization of the same account has more")
    assert.deepStrictEqual([queue.size(), dropped.length, dropped.at(-1)], [20, 7, "one"])
  })

  it("serves the group first that is the least far after its next job, where the cost of a size is known", () => {
    const order = (costOfSize: number | undefined) => {
      const queue = Slots.makeQueue<Job>({ maxSize: 1000, maxSizePerGroup: 1000, costOfSize, onDropped: fail })
      for (const group of ["long 1", "long 2", "long 3"]) queue.add(group, { group, cost: 3000 }, 100)
      const [first] = drain(queue, 1)
      // It comes anew, and later it has used more than the others.
      const short = [1, 2].flatMap(() => {
        queue.add("short", { group: "short", cost: 10 }, 1)
        return drain(queue, 1)
      })
      return [first, ...short, ...drain(queue)]
    }
    assert.deepStrictEqual(order(30), ["long 1", "short", "short", "long 2", "long 3"])
    assert.deepStrictEqual(order(undefined), ["long 1", "long 2", "long 3", "short", "short"])
  })

  it("remembers what a group has used while its jobs run out", () => {
    const queue = make()
    addMany(queue, "steady", 1, 100)
    drain(queue, 10)
    addMany(queue, "burst", 50, 1)
    drain(queue, 1)
    addMany(queue, "burst", 1, 1)
    assert.deepStrictEqual(drain(queue, 40), Array<string>(40).fill("steady"))
  })

  it("counts the sizes of jobs until they are taken", () => {
    const queue = make(100, 50)
    const add = (group: string, size: number) => queue.add(group, { group, cost: 1 }, size)
    assert.deepStrictEqual(
      [add("a", 30), add("a", 21), add("a", 20), add("b", 50), add("c", 50)],
      [true, false, true, true, false]
    )
    queue.take()
    assert.strictEqual(queue.size(), 70)
    assert.isTrue(add("c", 30))
  })

  it("passes over a group that has its maximum of running jobs", () => {
    const queue = Slots.makeQueue<Job>({
      maxSize: 10,
      maxSizePerGroup: 10,
      maxRunningPerGroup: 1,
      onDropped: fail
    })
    for (const group of ["a", "a", "b"]) queue.add(group, { group, cost: 1 })
    const [first, second, third] = [queue.take(), queue.take(), queue.take()]
    assert.deepStrictEqual([first?.job.group, second?.job.group, third], ["a", "b", undefined])
    first?.charge(1)
    assert.strictEqual(queue.take()?.job.group, "a")
  })

  it("refuses jobs beyond the maximum of a group and of the queue, and accepts others once some are gone", () => {
    const queue = make(3, 2)
    const job = { group: "a", cost: 1 }
    assert.deepStrictEqual(
      ["a", "a", "a", "b", "b"].map((group) => queue.add(group, { ...job })),
      [true, true, false, true, false]
    )
    queue.take()
    assert.isTrue(queue.add("c", job))
    queue.remove("c", job)
    assert.strictEqual(queue.size(), 2)
    queue.remove("c", job)
    assert.strictEqual(queue.size(), 2, "a job is removed once")
  })

  it("drops the last job of the group that has most, for one of a group that has less", () => {
    const dropped: Array<number> = []
    const queue = make(16, 4, ({ cost }) => dropped.push(cost))
    for (const group of ["a", "b", "c", "d"]) for (const cost of [1, 2, 3, 4]) queue.add(group, { group, cost })
    // Whoever makes many groups has as much as any of them.
    for (const group of ["e", "f", "g", "h"]) assert.isTrue(queue.add(group, { group, cost: 5 }))
    assert.deepStrictEqual(dropped, [4, 4, 4, 4])
    assert.isFalse(queue.add("i", { group: "i", cost: 6 }, 4))
    assert.isFalse(queue.add("a", { group: "a", cost: 6 }))
    assert.lengthOf(dropped, 4)
    // As many as it takes, and none if that is not enough.
    assert.isTrue(queue.add("i", { group: "i", cost: 6 }, 2))
    assert.deepStrictEqual(dropped.slice(4), [3, 3])
    assert.isFalse(queue.add("j", { group: "j", cost: 6 }, 3))
    assert.lengthOf(dropped, 6)
    assert.strictEqual(queue.size(), 16)
  })

  it("evicts all groups when the queue is idle, and those that are not ahead of the others while it is busy", () => {
    const queue = make(10)
    for (let group = 0; group < 1000; group++) {
      addMany(queue, String(group), 1, 1)
      drain(queue)
    }
    assert.strictEqual(queue.groups(), 0)

    let most = 0
    addMany(queue, "steady", 1, 2)
    for (let group = 0; group < 1000; group++) {
      addMany(queue, String(group), 1, 1)
      drain(queue, 2)
      addMany(queue, "steady", 1, 1)
      most = Math.max(most, queue.groups())
    }
    assert.isAtMost(most, 20)
  })

  it("takes no job that does not fit, and leaves it in its place", () => {
    const queue = make()
    addMany(queue, "a", 1, 1)
    addMany(queue, "a", 9, 1)
    addMany(queue, "a", 1, 1)
    const fits = ({ cost }: Job): boolean => cost < 5
    assert.strictEqual(queue.take(fits)?.job.cost, 1)
    assert.isUndefined(queue.take(fits))
    assert.strictEqual(queue.size(), 2)
    assert.strictEqual(queue.take()?.job.cost, 9)
  })

  it("property: no group with jobs is behind another one by more than the cost of two jobs", () => {
    const maxCost = 100
    const job = fc.record({ group: fc.constantFrom("a", "b", "c"), cost: fc.integer({ min: 1, max: maxCost }) })
    fc.assert(
      fc.property(fc.array(job, { minLength: 30, maxLength: 200 }), (jobs) => {
        const queue = make()
        const waiting = new Map<string, number>()
        for (const each of jobs) {
          queue.add(each.group, each)
          waiting.set(each.group, (waiting.get(each.group) ?? 0) + 1)
        }
        const used = new Map<string, number>()
        for (let taken = queue.take(); taken !== undefined; taken = queue.take()) {
          const { cost, group } = taken.job
          taken.charge(cost)
          used.set(group, (used.get(group) ?? 0) + cost)
          waiting.set(group, waiting.get(group)! - 1)
          const backlogged = [...waiting].flatMap(([name, count]) => (count > 0 ? [used.get(name) ?? 0] : []))
          assert.isAtMost(Math.max(...used.values()) - Math.min(...backlogged, Infinity), 2 * maxCost)
        }
      })
    )
  })
})
