/** Reads from the log of Postgres how long each statement took, by database. */

/** Settings under which Postgres logs each statement with its time. Vacuum runs when the benchmark says so. */
export const logging: ReadonlyArray<string> = [
  "log_line_prefix=@@%n|%d|%u|%Q|",
  "log_min_duration_statement=0",
  "log_parameter_max_length=0",
  "autovacuum=off",
  // Logs nothing until its threshold is set.
  "session_preload_libraries=auto_explain",
  "auto_explain.log_analyze=on",
  "auto_explain.log_buffers=on",
  "auto_explain.log_parameter_max_length=0"
]

/** The milliseconds of each execution, by statement. */
export type Times = Map<string, Array<number>>

/** One execution in the log. */
export interface Execution {
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly database: string
  readonly user: string
  /** The identifier that `pg_stat_statements` has for the statement. It is that of a database and its copies. */
  readonly query?: string
  readonly milliseconds: number
  readonly statement: string
}

const entry =
  /^(?<at>[\d.]+)\|(?<database>[^|]*)\|(?<user>[^|]*)\|(?:(?<query>-?\d+)\|)?LOG: +duration: (?<ms>[\d.]+) ms {2}(?:execute [^:]+|statement): (?<text>[^]+)$/

const planEntry =
  /^[\d.]+\|(?<database>[^|]*)\|[^|]*\|(?<query>-?\d+)\|LOG: +duration: [\d.]+ ms {2}plan:\s+(?<text>[^]+)$/

/** Reads an entry of the log, without the mark at its beginning. Undefined for one that is no execution. */
export const parseEntry = (text: string): Execution | undefined => {
  const found = entry.exec(text)?.groups
  if (found === undefined) return undefined
  const statement = found["text"]!.replaceAll(/\s+/g, " ").trim()
  return {
    at: Number(found["at"]) * 1000,
    database: found["database"]!,
    user: found["user"]!,
    ...(found["query"] === undefined ? {} : { query: found["query"] }),
    milliseconds: Number(found["ms"]),
    statement
  }
}

// A part of a text keeps the whole text alive, which is that of a round here: some 100 MB.
const copied = (part: string): string => Buffer.from(part).toString()

const entriesOf = (log: string): ReadonlyArray<string> => log.split(/(?:^|\n)@@/)

/** The executions in a database between two times, of users other than the benchmark. */
export const timesOf = (log: string, database: string, from: number, until: number): Times => {
  const times: Times = new Map()
  for (const text of entriesOf(log)) {
    const one = parseEntry(text)
    if (one === undefined || one.database !== database || one.user === "bench") continue
    if (one.at < from || one.at > until || /^(?:BEGIN|COMMIT|ROLLBACK|SET|LISTEN)/.test(one.statement)) continue
    const all = times.get(one.statement)
    if (all === undefined) times.set(copied(one.statement), [one.milliseconds])
    else all.push(one.milliseconds)
  }
  return times
}

/** The identifier of each statement. */
export const queriesOf = (log: string): ReadonlyMap<string, string> => {
  const queries = new Map<string, string>()
  for (const text of entriesOf(log)) {
    const one = parseEntry(text)
    if (one?.query === undefined || queries.has(one.statement)) continue
    queries.set(copied(one.statement), copied(one.query))
  }
  return queries
}

const blocksIn = (plan: string): number => {
  const [, hit, read] = /Buffers: shared(?: hit=(\d+))?(?: read=(\d+))?/.exec(plan) ?? []
  return Number(hit ?? 0) + Number(read ?? 0)
}

/** Of the plans of each statement in a database, by its identifier, the one that read the most blocks. */
export const plansOf = (log: string, database: string): ReadonlyMap<string, string> => {
  const plans = new Map<string, string>()
  for (const text of entriesOf(log)) {
    const found = planEntry.exec(text)?.groups
    if (found === undefined || found["database"] !== database) continue
    const plan = found["text"]!
    const query = found["query"]!
    if (blocksIn(plan) >= blocksIn(plans.get(query) ?? "")) plans.set(copied(query), copied(plan))
  }
  return plans
}
