/**
 * Renders the stages of a delivery worker as a Mermaid diagram, and the statements of the engine as tables of their CTEs.
 */
import { existsSync } from "node:fs"
import { join } from "node:path"
import type { CteStatement } from "../apps/server/src/database/Cte.ts"
import { claim } from "../apps/server/src/webhooks/claim.sql.ts"
import { complete } from "../apps/server/src/webhooks/complete.sql.ts"
import * as DeliveryCompleter from "../apps/server/src/webhooks/DeliveryCompleter.ts"
import * as DeliveryFetcher from "../apps/server/src/webhooks/DeliveryFetcher.ts"
import { limits } from "../apps/server/src/webhooks/DeliveryScheduler.ts"
import * as FetcherState from "../apps/server/src/webhooks/FetcherState.ts"
import { promote } from "../apps/server/src/webhooks/promote.sql.ts"
import { code, table } from "./blocks.ts"

const folder = "apps/server/src/webhooks"

/** The stages by node of the diagram, each with the file that implements it. */
const stages = {
  outbox: ["EventOutbox", "writes deliveries with the transition"],
  scheduler: ["DeliveryScheduler", `statement: ${promote.name}`],
  fetcher: ["DeliveryFetcher", "decides when to claim"],
  queue: ["DeliveryQueue", `statements: ${claim.name}, ${complete.name}`],
  attempt: ["Attempt", "signs and sends the request"],
  completer: ["DeliveryCompleter", "buffers completions"]
} as const satisfies Readonly<Record<string, readonly [module: string, does: string]>>

const arrows: ReadonlyArray<readonly [from: keyof typeof stages, to: keyof typeof stages, label: string]> = [
  ["outbox", "fetcher", "wakes"],
  ["scheduler", "fetcher", "due retries, expired leases"],
  ["fetcher", "queue", "slots to fill"],
  ["queue", "attempt", "claimed deliveries"],
  ["attempt", "completer", "completion"],
  ["completer", "queue", "with the next claim, or alone"],
  ["completer", "fetcher", "freed slots"]
]

/** Returns the diagram of the stages. Throws if a stage has no file. */
export const stagesDiagram = (): string => {
  for (const [module] of Object.values(stages)) {
    const file = join(folder, `${module}.ts`)
    if (!existsSync(join(import.meta.dirname, "..", file))) throw new Error(`The stage ${module} has no file ${file}`)
  }
  return [
    "```mermaid",
    "flowchart LR",
    ...Object.entries(stages).map(([node, [module, does]]) => `    ${node}["${module}<br/>${does}"]`),
    ...arrows.map(([from, to, label]) => `    ${from} -->|${label}| ${to}`),
    "```"
  ].join("\n")
}

const list = (names: ReadonlyArray<string>): string => (names.length === 0 ? "–" : names.map(code).join(", "))

/** Returns the sentence of a statement, and the table of its CTEs. */
export const statementTable = <P>({ ctes, does, name }: CteStatement<P>): string =>
  [
    `${code(name)}: ${does}`,
    "",
    table(
      ["CTE", "what it does", "reads", "columns"],
      ctes.map((cte) => [code(cte.name), cte.does, list(cte.reads), list(cte.returns)])
    )
  ].join("\n")

/** Returns the table of the limits. */
export const limitsTable = (): string =>
  table(
    ["limit", "value"],
    [
      ["deliveries that one statement claims", String(FetcherState.maxClaim)],
      ["completions that one statement writes", String(DeliveryCompleter.maxBatch)],
      ["wait for a larger batch after a claim", `${DeliveryFetcher.batchWindowMs} ms`],
      ["retries that one statement promotes", String(limits.maxRetries)],
      ["organizations whose leases one statement checks", String(limits.maxOrganizations)]
    ]
  )

/** The blocks of `guides/how-delivery-works.md`. */
export const blocks: Readonly<Record<string, string>> = {
  "stages of a delivery": stagesDiagram(),
  "limits of the engine": limitsTable(),
  "statement claim": statementTable(claim),
  "statement complete": statementTable(complete),
  "statement promote": statementTable(promote)
}
