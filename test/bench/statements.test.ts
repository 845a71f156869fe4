/** The log of Postgres, from which the benchmark of history reads what each statement took. */
import { describe, expect, it } from "vitest"
import { parseEntry, plansOf, queriesOf, timesOf } from "../../bench/history/statements.ts"

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

describe("the parsed log of statements", () => {
  it("has the time, the database and the statement of an execution", () => {
    expect(parseEntry("1700000000.2|full|postgres|LOG:  duration: 1.25 ms  execute s1: SELECT 1\n\tFROM a")).toEqual({
      at: 1_700_000_000_200,
      database: "full",
      user: "postgres",
      milliseconds: 1.25,
      statement: "SELECT 1 FROM a"
    })
  })

  it("has no execution for entries of other kinds", () => {
    expect(parseEntry("1700000000.7|||LOG:  checkpoint starting: time")).toBeUndefined()
    expect(parseEntry("1700000000.1|full|postgres|LOG:  duration: 0.1 ms  bind s1: SELECT 1")).toBeUndefined()
  })

  it("groups the executions of one database in an interval, without those of the benchmark", () => {
    const times = timesOf(log, "full", 1_700_000_000_000, 1_700_000_001_000)
    expect([...times]).toEqual([["SELECT 1 FROM invoices", [1.25, 2.5]]])
  })

  it("has the same identifier for a statement in every database", () => {
    const entries = ["full|postgres|-7", "empty|postgres|-7", "full|postgres|8"].map(
      (source, n) => `@@1700000000.${n}|${source}|LOG:  duration: 1 ms  execute s1: SELECT ${source.at(-1)!}\n`
    )
    expect([...queriesOf(entries.join(""))]).toEqual([
      ["SELECT 7", "-7"],
      ["SELECT 8", "8"]
    ])
    expect([...timesOf(entries.join(""), "full", 0, Infinity).keys()]).toEqual(["SELECT 7", "SELECT 8"])
  })

  it("keeps the plan of a database that read the most blocks", () => {
    const plan = (database: string, hit: string) =>
      `@@1700000000.1|${database}|postgres|7|LOG:  duration: 1.5 ms  plan:\n\tQuery Text: SELECT\n\tSeq Scan on a\n\t  Buffers: shared ${hit}\n`
    const log = [
      plan("full", "hit=2"),
      plan("full", "hit=3 read=8"),
      plan("full", "hit=9"),
      plan("empty", "hit=99")
    ].join("")
    expect(plansOf(log, "full").get("7")).toContain("hit=3 read=8")
    expect([...timesOf(log, "full", 0, Infinity)]).toEqual([])
  })
})
