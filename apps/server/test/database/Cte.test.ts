import { assert, describe, it } from "vitest"
import * as Cte from "../../src/database/Cte.ts"
import { sql } from "../support/statements.ts"

interface Parameters {
  readonly least: number
}

const numbers: Cte.Cte<object> = {
  name: "numbers",
  does: "Returns two numbers.",
  reads: [],
  returns: ["n"],
  materialized: true,
  query: (sql) => sql`VALUES (1), (2)`
}

const large: Cte.Cte<Parameters> = {
  name: "large",
  does: "Keeps the large numbers.",
  reads: ["numbers"],
  returns: [],
  query: (sql, { least }) => sql`SELECT FROM numbers WHERE n >= ${least}`
}

describe("Cte.make", () => {
  it("makes one statement of the CTEs in their order, with their columns, and of the query", () => {
    const statement: Cte.CteStatement<Parameters> = {
      name: "count",
      does: "Counts the large numbers.",
      ctes: [numbers, large],
      query: (sql, { least }) => sql`SELECT count(*), ${least} FROM large`
    }
    const [text, parameters] = Cte.make(sql, statement, { least: 2 }).compile()
    assert.strictEqual(
      text,
      "WITH RECURSIVE numbers (n) AS MATERIALIZED (VALUES (1), (2)),large AS (SELECT FROM numbers WHERE n >= $1) " +
        "SELECT count(*), $2 FROM large"
    )
    assert.deepStrictEqual(parameters, [2, 2])
  })
})
