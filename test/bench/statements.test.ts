/** The log of Postgres, from which the benchmark of history reads what each statement took. */
import { describe, expect, it } from "vitest"
import { parseEntry, timesOf } from "../../bench/history/statements.ts"

const log = `@@1700000000.100|full|postgres|LOG:  duration: 0.120 ms  parse s1: SELECT 1
@@1700000000.200|full|postgres|LOG:  duration: 1.250 ms  execute s1: SELECT 1
\tFROM invoices
@@1700000000.300|full|bench|LOG:  duration: 9 ms  statement: SELECT 1 FROM invoices
@@1700000000.400|empty|postgres|LOG:  duration: 0.5 ms  execute s1: SELECT 1
\tFROM invoices
@@1700000000.500|full|postgres|LOG:  duration: 2.5 ms  execute <unnamed>: SELECT 1 FROM  invoices
@@1700000000.600|full|postgres|LOG:  duration: 3 ms  statement: COMMIT
@@1700000009.000|full|postgres|LOG:  duration: 4 ms  execute s1: SELECT 1 FROM invoices
@@1700000000.700|||LOG:  checkpoint starting: time
`

describe("the log of statements", () => {
  it("has the time, the database and the statement of an execution", () => {
    expect(parseEntry("1700000000.2|full|postgres|LOG:  duration: 1.25 ms  execute s1: SELECT 1\n\tFROM a")).toEqual({
      at: 1_700_000_000_200,
      database: "full",
      user: "postgres",
      milliseconds: 1.25,
      statement: "SELECT 1 FROM a"
    })
  })

  it("has no execution in entries of other kinds", () => {
    expect(parseEntry("1700000000.7|||LOG:  checkpoint starting: time")).toBeUndefined()
    expect(parseEntry("1700000000.1|full|postgres|LOG:  duration: 0.1 ms  bind s1: SELECT 1")).toBeUndefined()
  })

  it("groups executions of one database within a time, with any white space, without those of the benchmark", () => {
    const times = timesOf(log, "full", 1_700_000_000_000, 1_700_000_001_000)
    expect([...times]).toEqual([["SELECT 1 FROM invoices", [1.25, 2.5]]])
  })
})
