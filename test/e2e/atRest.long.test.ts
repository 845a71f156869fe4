/** How many statements a server sends to its database while nothing happens. */
import { setTimeout as sleep } from "node:timers/promises"
import { assert, describe, it } from "vitest"
import { createMigrated } from "../support/databases.ts"
import { startCounter } from "../support/statementCounter.ts"
import { secrets, launchServer } from "./support/server.ts"

const seconds = 20

const countAtRest = async (role: string): Promise<number> => {
  const database = await createMigrated()
  const counter = await startCounter(database.url)
  const server = await launchServer({ ...secrets, DATABASE_URL: counter.url, GOVOICE_ROLE: role })
  try {
    await server.started()
    await sleep(5000)
    const before = counter.counts.statements
    await sleep(1000 * seconds)
    return counter.counts.statements - before
  } finally {
    await server.stop()
    counter.close()
    await database.drop()
  }
}

describe("a server at rest", () => {
  // A slow machine sends fewer.
  it("sends no statement as an API, and five in two seconds at most with its workers", async () => {
    const [api, worker, all] = await Promise.all(["api", "worker", "all"].map(countAtRest))
    assert.strictEqual(api, 0)
    for (const one of [worker!, all!]) {
      assert.isAtMost(one, 2.5 * seconds)
      // They poll.
      assert.isAtLeast(one, 2)
    }
  })
})
