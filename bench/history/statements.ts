/** Reads from the log of Postgres how long each statement took, by database. */

/** Settings under which Postgres logs each statement with its time. Vacuum runs when the benchmark says so. */
export const logging: ReadonlyArray<string> = [
  "log_line_prefix=@@%n|%d|%u|",
  "log_min_duration_statement=0",
  "log_parameter_max_length=0",
  "autovacuum=off"
]

/** The milliseconds of each execution, by statement. */
export type Times = Map<string, Array<number>>

/** One execution in the log. */
export interface Execution {
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly database: string
  readonly user: string
  readonly milliseconds: number
  readonly statement: string
}

const entry =
  /^(?<at>[\d.]+)\|(?<database>[^|]*)\|(?<user>[^|]*)\|LOG: +duration: (?<ms>[\d.]+) ms {2}(?:execute [^:]+|statement): (?<text>[^]+)$/

/** Reads an entry of the log, without the mark at its beginning. Undefined for one that is no execution. */
export const parseEntry = (text: string): Execution | undefined => {
  const found = entry.exec(text)?.groups
  if (found === undefined) return undefined
  const statement = found["text"]!.replaceAll(/\s+/g, " ").trim()
  return {
    at: Number(found["at"]) * 1000,
    database: found["database"]!,
    user: found["user"]!,
    milliseconds: Number(found["ms"]),
    statement
  }
}

/** The executions in a database between two times, of users other than the benchmark. */
export const timesOf = (log: string, database: string, from: number, until: number): Times => {
  const times: Times = new Map()
  for (const text of log.split(/(?:^|\n)@@/)) {
    const one = parseEntry(text)
    if (one === undefined || one.database !== database || one.user === "bench") continue
    if (one.at < from || one.at > until || /^(?:BEGIN|COMMIT|ROLLBACK|SET|LISTEN)/.test(one.statement)) continue
    const all = times.get(one.statement)
    if (all === undefined) times.set(one.statement, [one.milliseconds])
    else all.push(one.milliseconds)
  }
  return times
}
