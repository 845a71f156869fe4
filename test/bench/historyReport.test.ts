/** The report of the benchmark of history: which statements miss their goal, and which read more. */
import { describe, expect, it } from "vitest"
import { databases, type Name, reportOf, type Round } from "../../bench/history/report.ts"

const statement = "SELECT 1 FROM invoices"

/** A round in which each execution took so long and read so many blocks. */
const round = (milliseconds: number, blocks: number, executions = 60): Round => ({
  times: new Map([[statement, Array<number>(executions).fill(milliseconds)]]),
  queries: new Map([[statement, "7"]]),
  blocks: new Map([["7", blocks]])
})

const measured = (changes: Partial<Record<Name, ReadonlyArray<Round>>>): Record<Name, ReadonlyArray<Round>> => ({
  ...(Object.fromEntries(databases.map((name) => [name, [round(1, 4), round(1, 4)]])) as Record<Name, Array<Round>>),
  ...changes
})

describe("the report of history", () => {
  it("passes a statement that takes at most 1.2 times as long as without history", () => {
    const { exitCode, report } = reportOf(measured({ vacuumed: [round(1.2, 4), round(1.2, 4)] }))
    expect(exitCode).toBe(0)
    expect(report).toContain("1.20")
    expect(report).not.toContain("+")
  })

  it("fails for a statement that takes longer than that limit, before or after vacuum", () => {
    for (const name of ["unvacuumed", "vacuumed"] as const) {
      const { exitCode, report } = reportOf(measured({ [name]: [round(1.3, 5), round(1.3, 5)] }))
      expect(exitCode).toBe(1)
      expect(report).toContain("**missed**")
      expect(report).toContain("**+**")
    }
  })

  it("passes a statement with one slow round, or within 1.2 times the noise", () => {
    const slow = [round(1, 4), round(1, 4), round(9, 4)]
    const three = Object.fromEntries(databases.map((name) => [name, [round(1, 4), round(1, 4), round(1, 4)]]))
    expect(reportOf(measured({ ...three, vacuumed: slow })).exitCode).toBe(0)
    const noisy = { control: [round(1.5, 4), round(1.5, 4)], vacuumed: [round(1.7, 4), round(1.7, 4)] }
    expect(reportOf(measured(noisy)).exitCode).toBe(0)
    expect(reportOf(measured({ ...noisy, vacuumed: [round(1.9, 4), round(1.9, 4)] })).exitCode).toBe(1)
  })

  it("shows the blocks of a statement of few executions", () => {
    const few = Object.fromEntries(databases.map((name) => [name, [round(1, 4, 3)]]))
    expect(reportOf(measured({ ...few, vacuumed: [round(1, 5, 3)] })).report).toContain("blocks 4.0 / 4.0 / 5.0 **+**")
  })

  it("does not judge a percentile of few executions", () => {
    const few = Object.fromEntries(databases.map((name) => [name, [round(1, 4, 24), round(1, 4, 24)]]))
    const { exitCode, report, statements } = reportOf(
      measured({ ...few, vacuumed: [round(9, 4, 24), round(9, 4, 24)] })
    )
    expect([exitCode, statements]).toEqual([0, []])
    expect(report).toContain(`\`${statement}\`: 24, 24, 24, 24`)
  })
})
