/** The report of the benchmark: what each statement takes and reads with history, beside what it does without. */
import { median } from "../ratios.ts"
import type { Times } from "./statements.ts"

/** The databases: two without history, and two with it. */
export const databases = ["empty", "unvacuumed", "vacuumed", "control"] as const

/** The name of a database. */
export type Name = (typeof databases)[number]

/** The measurements in a database in one round. */
export interface Round {
  readonly times: Times
  /** The identifier of each statement. */
  readonly queries: ReadonlyMap<string, string>
  /** The blocks that an execution reads, by identifier of the statement. */
  readonly blocks: ReadonlyMap<string, number>
}

/** A statement that was executed often enough. */
export interface Judged {
  readonly label: string
  readonly query: string
}

/** A percentile of fewer executions says nothing. If a round has fewer, those of all rounds are taken together. */
const leastExecutions = 50

const atMost = 1.2

const percentile = (values: ReadonlyArray<number>, share: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? Number.NaN

const labelOf = (statement: string): string => {
  const from =
    /\b(?:endpoint_scan|deliveries|invoices|events|organizations|webhook_endpoints|sessions|api_keys)\b/.exec(statement)
  const text = statement.slice(0, 70).replaceAll("|", "\\|").replaceAll("`", "'")
  return from === null || from.index < 70 ? text : `${text} … ${from[0]}`
}

/** Makes the report. A statement misses its goal where its ratio exceeds both 1.2 and the noise of its rounds by 1.2. */
export const reportOf = (measured: Readonly<Record<Name, ReadonlyArray<Round>>>) => {
  const executions = (name: Name, statement: string) =>
    measured[name].map(({ times }) => times.get(statement)?.length ?? 0)
  const all = [...new Set(databases.flatMap((name) => measured[name].flatMap(({ times }) => [...times.keys()])))]
  const isInEachRound = (statement: string) =>
    databases.every((name) => executions(name, statement).every((count) => count >= leastExecutions))
  const isJudged = (statement: string) =>
    databases.every((name) => executions(name, statement).reduce((sum, count) => sum + count, 0) >= leastExecutions)
  const judged = all.filter(isJudged).sort()
  const queryOf = (statement: string): string =>
    databases.flatMap((name) => measured[name].flatMap(({ queries }) => queries.get(statement) ?? []))[0] ?? ""

  const of = (name: Name, statement: string, share: number) => {
    const inRounds = measured[name].map(({ times }) => times.get(statement) ?? [])
    return (isInEachRound(statement) ? inRounds : [inRounds.flat()]).map((values) => percentile(values, share))
  }
  const ratio = (name: Name, statement: string, share: number) => {
    const empty = of("empty", statement, share)
    return median(of(name, statement, share).map((one, round) => one / empty[round]!))
  }
  const blocks = (name: Name, statement: string) =>
    median(measured[name].flatMap((round) => round.blocks.get(queryOf(statement)) ?? []))
  const isMissed = (statement: string) => {
    const control = ratio("control", statement, 0.99)
    const goal = atMost * Math.max(1, control, 1 / control)
    return (["unvacuumed", "vacuumed"] as const).some((name) => ratio(name, statement, 0.99) > goal)
  }
  // A statement that was executed with history alone is heavier, too.
  const isHeavier = (statement: string) => {
    const [empty, ...filled] = (["empty", "unvacuumed", "vacuumed"] as const).map(
      (name) => blocks(name, statement) || 0
    )
    return Math.max(...filled) > atMost * empty!
  }

  const blocksOf = (statement: string): string =>
    (["empty", "unvacuumed", "vacuumed"] as const)
      .map((name) => blocks(name, statement))
      .map((count) => (Number.isNaN(count) ? "-" : count.toFixed(1)))
      .join(" / ")

  const row = (statement: string, index: number): string => {
    const times = (share: number) =>
      (["empty", "unvacuumed", "vacuumed"] as const)
        .map((name) => median(of(name, statement, share)).toFixed(3))
        .join(" / ")
    const ratios = (["unvacuumed", "vacuumed", "control"] as const).map((name) =>
      ratio(name, statement, 0.99).toFixed(2)
    )
    const cells = [
      `${index + 1}. \`${labelOf(statement)}\``,
      median(executions("empty", statement)),
      times(0.5),
      times(0.99),
      ...ratios,
      `${blocksOf(statement)}${isHeavier(statement) ? " **+**" : ""}`,
      isMissed(statement) ? "**missed**" : "met"
    ]
    return `| ${cells.join(" | ")} |`
  }
  const statements = judged.map((statement, index): Judged => ({
    label: `${index + 1}. ${statement}`,
    query: queryOf(statement)
  }))
  const seldom = all.filter((statement) => !isJudged(statement)).sort()
  return {
    exitCode: judged.some(isMissed) ? 1 : 0,
    statements,
    report: `Three figures are those without history, with it before vacuum, and after it. Percentiles are medians of the rounds, in ms.

| statement | executions a round | p50 | p99 | p99 before vacuum, ratio | after vacuum | noise | blocks read by one | |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |
${judged.map(row).join("\n")}

Not judged, because one of the databases had fewer than ${leastExecutions} executions in all rounds together:

${seldom.map((statement) => `- \`${labelOf(statement)}\`: ${databases.map((name) => median(executions(name, statement))).join(", ")}; blocks ${blocksOf(statement)}${isHeavier(statement) ? " **+**" : ""}`).join("\n")}`
  }
}
