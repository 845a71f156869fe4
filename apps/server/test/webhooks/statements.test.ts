/** The descriptions of the CTEs of the delivery engine, from which the guide is printed, compared with their SQL. */
import type { Statement } from "effect/sql"
import { assert, describe, it } from "vitest"
import type { CteStatement } from "../../src/database/Cte.ts"
import { claim } from "../../src/webhooks/claim.sql.ts"
import { complete } from "../../src/webhooks/complete.sql.ts"
import { promote } from "../../src/webhooks/promote.sql.ts"
import { sql } from "../support/statements.ts"

const now = sql`now()`
const claimParameters = {
  completions: [],
  now,
  after: "",
  resumeCursors: [],
  partitions: undefined,
  limit: 1,
  general: 0,
  perOrganization: 1,
  leaseMs: 1
}
const promoteParameters = { now, retrySchedule: [1000], maxRetries: 1, maxOrganizations: 1, recheckMs: 1 }

const tables = ["deliveries", "events", "organization_concurrency", "webhook_endpoints"]

// Identifiers: words that are not part of a quoted string.
const wordsOf = (text: string): ReadonlySet<string> => new Set(text.replaceAll(/'[^']*'/g, "").match(/\w+/g))

const textOf = (fragment: Statement.Fragment): string => sql`${fragment}`.compile()[0]

const describeStatement = <P>(statement: CteStatement<P>, parameters: P): void => {
  const names = statement.ctes.map(({ name }) => name)

  describe(`the statement ${statement.name}`, () => {
    it.each(statement.ctes.map((cte) => [cte.name, cte] as const))(
      "%s reads the tables and CTEs it names",
      (_, cte) => {
        const words = wordsOf(textOf(cte.query(sql, parameters)))
        const reads = [...tables, ...names].filter((name) => words.has(name) && name !== cte.name)
        assert.sameMembers([...cte.reads], reads)
      }
    )

    it("names a CTE only behind those that it reads", () => {
      for (const [index, { name, reads }] of statement.ctes.entries()) {
        for (const read of reads) if (!tables.includes(read)) assert.include(names.slice(0, index), read, name)
      }
    })

    it("has no CTE that neither writes nor is read", () => {
      const inQuery = wordsOf(textOf(statement.query(sql, parameters)))
      for (const { name } of statement.ctes.filter(({ query }) => !/UPDATE/.test(textOf(query(sql, parameters))))) {
        const isRead = inQuery.has(name) || statement.ctes.some(({ reads }) => reads.includes(name))
        assert.isTrue(isRead, name)
      }
    })

    it("describes each CTE in one sentence", () => {
      for (const { does, name } of [statement, ...statement.ctes]) assert.match(does, /^[A-Z][^.]*\.$/, name)
    })
  })
}

describeStatement(claim, claimParameters)
describeStatement(complete, claimParameters)
describeStatement(promote, promoteParameters)
