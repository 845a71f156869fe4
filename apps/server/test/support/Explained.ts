/** Runs effects and records how the database executed their statements, as reported by `EXPLAIN (ANALYZE, BUFFERS)`. */
import { Effect } from "effect"
import { SqlClient, Statement } from "effect/sql"

interface Node {
  readonly "Node Type": string
  readonly "Subplan Name"?: string
  readonly "CTE Name"?: string
  readonly "Relation Name"?: string
  readonly "Index Name"?: string
  readonly "Actual Rows": number
  readonly "Actual Loops": number
  readonly "Rows Removed by Filter"?: number
  readonly "Rows Removed by Index Recheck"?: number
  readonly "Shared Hit Blocks": number
  readonly "Shared Read Blocks": number
  readonly Plans?: ReadonlyArray<Node>
}

/** How a statement or a CTE reads tables. */
export interface Access {
  /** Tables that were read from end to end, or by all entries of an index that fit. */
  readonly scanned: ReadonlyArray<string>
  /** Indexes of the plan. */
  readonly indexes: ReadonlyArray<string>
}

export interface Explained extends Access {
  readonly text: string
  /** Indexes of steps that were executed. */
  readonly readIndexes: ReadonlyArray<string>
  /** By the name of the CTE. CTEs that the planner has merged into others are absent. */
  readonly ctes: Readonly<Record<string, Access>>
  /** Rows that were read from tables and thrown away. */
  readonly wasted: number
  /** Rows that were sorted. */
  readonly sortedRows: number
  /** Blocks of 8 kB that were looked at, without those of writing steps that nothing reads. */
  readonly blocks: number
  /** The same with those steps. Foreign keys and other triggers are not in it: EXPLAIN does not count theirs. */
  readonly allBlocks: number
  readonly milliseconds: number
}

const flatten = (node: Node): ReadonlyArray<Node> => [node, ...(node.Plans ?? []).flatMap(flatten)]

// Postgres names the indexes of partitions by their columns.
const ofPartitions: Readonly<Record<string, string>> = {
  deliveries_endpoint_id_due_at_idx: "deliveries_due_idx",
  deliveries_due_at_idx: "deliveries_retries_idx",
  deliveries_organization_id_due_at_idx: "deliveries_alone_idx",
  deliveries_endpoint_id_failure_status_id_idx: "deliveries_failure_status_idx"
}

const partition = /_(?:before_)?\d{8}/

const indexOf = (name: string): string => {
  const ofTable = name.replace(partition, "")
  return ofPartitions[ofTable] ?? ofTable
}

// The planner reads partitions that it knows to be empty from end to end.
const isEmptyPartition = (node: Node): boolean => partition.test(node["Relation Name"] ?? "") && blocksOf(node) === 0

const indexesOf = (nodes: ReadonlyArray<Node>): ReadonlyArray<string> => [
  ...new Set(nodes.flatMap((node) => (node["Index Name"] === undefined ? [] : indexOf(node["Index Name"]))))
]

const accessOf = (nodes: ReadonlyArray<Node>): Access => ({
  scanned: nodes
    .filter((node) => /Seq Scan|Bitmap Heap Scan/.test(node["Node Type"]) && !isEmptyPartition(node))
    .map((node) => node["Relation Name"] ?? ""),
  indexes: indexesOf(nodes)
})

// A plan contains each CTE once, below the node that reads it first.
const ofCte = (node: Node): ReadonlyArray<Node> => [
  node,
  ...(node.Plans ?? []).flatMap((plan) => (plan["Subplan Name"]?.startsWith("CTE ") ? [] : ofCte(plan)))
]

const blocksOf = (node: Node): number => node["Shared Hit Blocks"] + node["Shared Read Blocks"]

const cteName = (node: Node): string | undefined =>
  /^CTE (?<name>\w+)$/.exec(node["Subplan Name"] ?? "")?.groups?.["name"]

// A step that writes and that nothing reads is executed after the others, and the first node does not count it.
const blocksOfAll = (plan: Node): number => {
  const nodes = flatten(plan)
  const read = new Set(nodes.flatMap((node) => (node["Actual Loops"] > 0 ? (node["CTE Name"] ?? []) : [])))
  const unread = nodes.filter(
    (node) => node["Node Type"] === "ModifyTable" && cteName(node) !== undefined && !read.has(cteName(node)!)
  )
  return [plan, ...unread].reduce((sum, node) => sum + blocksOf(node), 0)
}

const summarize = (text: string, plan: { readonly Plan: Node; readonly "Execution Time": number }): Explained => {
  const nodes = flatten(plan.Plan)
  return {
    readIndexes: indexesOf(nodes.filter((node) => node["Actual Loops"] > 0)),
    text,
    ...accessOf(nodes),
    ctes: Object.fromEntries(
      nodes.flatMap((node) => {
        const name = cteName(node)
        return name === undefined ? [] : [[name, accessOf(ofCte(node))]]
      })
    ),
    wasted: nodes.reduce(
      (sum, node) =>
        node["Relation Name"] === undefined
          ? sum
          : sum +
            node["Actual Loops"] *
              ((node["Rows Removed by Filter"] ?? 0) + (node["Rows Removed by Index Recheck"] ?? 0)),
      0
    ),
    sortedRows: nodes.reduce(
      (sum, node) =>
        node["Node Type"].endsWith("Sort")
          ? sum + node.Plans![0]!["Actual Rows"] * node.Plans![0]!["Actual Loops"]
          : sum,
      0
    ),
    blocks: blocksOf(plan.Plan),
    allBlocks: blocksOfAll(plan.Plan),
    milliseconds: plan["Execution Time"]
  }
}

/** The statements of an effect, which are carried out as ever. */
export const explain = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const explained: Array<Explained> = []
    const transformer: Statement.Transformer = (statement) =>
      Effect.gen(function* () {
        const client = yield* Effect.serviceOption(SqlClient.SqlClient)
        if (client._tag === "None") return yield* Effect.die(new Error("There is no client"))
        const [text, parameters] = statement.compile()
        if (/^\s*(?:SET|LOCK|CREATE|ALTER|DROP|TRUNCATE)\b/.test(text)) return statement
        // Rolls back the changes of EXPLAIN, so that the statement itself runs on the original rows.
        yield* client.value
          .withTransaction(
            Effect.gen(function* () {
              const rows = yield* client.value.unsafe<{ readonly "QUERY PLAN": ReadonlyArray<never> }>(
                `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`,
                parameters
              )
              explained.push(summarize(text, rows[0]!["QUERY PLAN"][0]!))
              return yield* Effect.fail("take it back")
            }).pipe(Effect.provideService(Statement.CurrentTransformer, undefined))
          )
          .pipe(
            Effect.provideService(Statement.CurrentTransformer, undefined),
            Effect.catch((error) => (error === "take it back" ? Effect.void : Effect.die(error)))
          )
        return statement
      }) as Effect.Effect<Statement.Statement<unknown>>
    const result = yield* Effect.provideService(effect, Statement.CurrentTransformer, transformer)
    return { result, explained }
  })
