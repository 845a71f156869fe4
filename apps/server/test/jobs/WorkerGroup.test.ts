import { assert, describe, it } from "vitest"
import * as IdGenerator from "../../src/crypto/IdGenerator.ts"
import * as WorkerGroup from "../../src/jobs/WorkerGroup.ts"

/** The group as `self` knows it after it has seen the others at time 0. */
const groupOf = (self: string, others: ReadonlyArray<string>) =>
  others.reduce((group, other) => WorkerGroup.seen(group, other, 0), WorkerGroup.alone(self))

const own = (self: string, others: ReadonlyArray<string>, now = 0) =>
  WorkerGroup.ownPartitions(groupOf(self, others), now)

describe("WorkerGroup", () => {
  it("gives all partitions to a worker that is alone", () => {
    assert.isUndefined(own("a", []))
  })

  it.each([2, 3, 4, 16, 32, 40])("gives each partition to one of %i workers that know each other", (count) => {
    const names = Array.from({ length: count }, (_, n) => `worker${String(n).padStart(2, "0")}`)
    const owned = names.map((self) =>
      own(
        self,
        names.filter((name) => name !== self)
      )
    )
    assert.sameMembers(
      owned.flatMap((partitions) => partitions!),
      [...WorkerGroup.partitions]
    )
    const sizes = owned.map((partitions) => partitions!.length)
    assert.isAtMost(Math.max(...sizes) - Math.min(...sizes), 1)
  })

  it("forgets a member that has left, and one that was silent for 8 s", () => {
    const group = groupOf("a", ["b"])
    assert.isUndefined(WorkerGroup.ownPartitions(WorkerGroup.left(group, "b"), 0))
    assert.lengthOf(WorkerGroup.ownPartitions(group, 7999)!, 16)
    assert.isUndefined(WorkerGroup.ownPartitions(group, 8000))
    assert.lengthOf(WorkerGroup.ownPartitions(WorkerGroup.seen(group, "b", 5000), 8000)!, 16)
    assert.strictEqual(WorkerGroup.seen(group, "c", 8000).lastSeenAt.size, 1)
  })

  it("puts each organization into a partition", () => {
    for (let n = 0; n < 1000; n++) {
      assert.include(WorkerGroup.partitions, WorkerGroup.partitionOf(IdGenerator.at("org", Date.now())))
    }
  })

  it("names the partitions that a notification of deliveries is for", () => {
    const read = (payload: string) => WorkerGroup.notifiedPartitions(payload.split(" "))
    const some = WorkerGroup.notification("me", ["invoices", "deliveries"], new Set(["a", "7"]))
    assert.strictEqual(some, "me invoices deliveries partitions=a7")
    assert.deepStrictEqual(read(some), ["a", "7"])
    const all = WorkerGroup.notification("me", ["deliveries"], undefined)
    assert.strictEqual(all, "me deliveries")
    assert.isUndefined(read(all))
    assert.strictEqual(WorkerGroup.notification("me", ["here"], new Set(["a"])), "me here")
  })
})
