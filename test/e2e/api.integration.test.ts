/**
 * The API of the contract over HTTP, against the server as a process. Every answer is compared with the OpenAPI document of the
 * server; in the end, every answer of the document has been seen. `apiEmbedded.long.test.ts` has the embedded database.
 *
 * The suites are in `api/`, by resource.
 */
import { assert, describe, it } from "vitest"
import { testDatabase } from "./api/database.ts"
import { testDeployments } from "./api/deployments.ts"
import { testOutage } from "./api/outage.ts"
import type { Agreement } from "./support/agreement.ts"
import { databaseOfRun } from "./support/databases.ts"

const agreements: Array<Agreement> = []

testDatabase(databaseOfRun, (agreement) => void agreements.push(agreement))
testDeployments((agreement) => void agreements.push(agreement))
testOutage((agreement) => void agreements.push(agreement))

describe("the OpenAPI document", () => {
  it("has no response that the suite has not seen", () => {
    const seen = new Set(agreements.flatMap((agreement) => [...agreement.seen]))
    // A body that is too slow has a test of its own, apiSlowBodies, and so have other cells: cells.scale.test.ts.
    const others = [" 408 request_timeout", " 421 wrong_cell"]
    assert.deepStrictEqual(
      agreements[0]!.documented().filter((answer) => !seen.has(answer) && !others.some((end) => answer.endsWith(end))),
      []
    )
  })
})
