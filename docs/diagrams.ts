/**
 * Generates state diagrams, timelines and errors of the guides from `packages/core`, the retry schedule from
 * `packages/dispatcher`, and mistakes in documents from the checks of `packages/ksef`.
 *
 *     node --conditions=source docs/diagrams.ts            updates the blocks
 *     node --conditions=source docs/diagrams.ts --check    fails if a block is not current
 */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { DeliveryState, ErrorCatalog, InvoiceEvent, InvoiceState, SandboxScenario } from "../packages/core/src/index.ts"
import * as Backoff from "../packages/dispatcher/src/Backoff.ts"
import { code, fill, table } from "./blocks.ts"
import { installs, noteFor } from "./installs.ts"
import { blocks as liveCodes } from "./liveCodes.ts"
import * as meanings from "./meanings.ts"
import { sections as mistakes } from "./mistakes.ts"
import { type Machine, stateDiagram, statusTable } from "./stateDiagram.ts"

/** A page of the documentation with its generated blocks. */
export interface Page {
  /** Relative to `docs/`. */
  readonly path: string
  readonly blocks: Readonly<Record<string, string>>
}

const emits: Readonly<Record<string, string | null>> = InvoiceState.emits

const invoice: Machine = {
  initial: InvoiceState.initial,
  transitions: InvoiceState.transitions,
  final: InvoiceState.Status.literals.filter(InvoiceState.isFinal),
  arrival: `arrives (${InvoiceState.createdEvent})`,
  label: (trigger) => (emits[trigger] == null ? trigger : `${trigger} (${emits[trigger]})`)
}

const deliveryStates: Machine = {
  initial: DeliveryState.initial,
  transitions: DeliveryState.transitions,
  final: DeliveryState.Status.literals.filter(DeliveryState.isFinal),
  arrival: "created",
  label: (trigger) => trigger
}

const eventTypes = table(
  ["event type", "emitted when"],
  InvoiceEvent.EventType.literals.map((type) => [code(type), InvoiceEvent.descriptions[type].meaning])
)

const duration = (milliseconds: number): string => {
  const seconds = milliseconds / 1000
  if (seconds < 60) return `${seconds} s`
  return seconds < 3600 ? `${seconds / 60} min` : `${seconds / 3600} h`
}

const retrySchedule = table(
  ["after attempt", "wait", "with jitter"],
  Backoff.defaultSchedule.map((wait, index) => {
    const [least, most] = [0, 1].map((random) => Backoff.nextDelay({ attempt: index + 1, random: () => random })!)
    return [String(index + 1), duration(wait), `${duration(least!)} to ${duration(most!)}`]
  })
)

const says: { readonly [T in InvoiceState.Trigger]: string } = {
  claim: "a worker takes it up",
  retry: "the gateway fails for a while",
  submit: "the gateway receives it",
  accept: "the gateway accepts it",
  reject: "the gateway rejects it",
  receipt: "the receipt (UPO) is stored",
  fail: "the gateway fails, and no attempts remain"
}

const next = (status: InvoiceState.Status, trigger: InvoiceState.Trigger): InvoiceState.Status => {
  const target = InvoiceState.transitions[status][trigger]
  if (target === null) throw new Error(`A scenario cannot ${trigger} an invoice that is ${status}`)
  return target
}

// An integration does not see the claims between the transitions.
const timeline = (scenario: SandboxScenario.Scenario): string => {
  const rows = [["0", "it is stored", code(InvoiceState.initial), code(InvoiceState.createdEvent)]]
  let status: InvoiceState.Status = InvoiceState.initial
  let step = 0
  for (const { afterSteps, trigger } of SandboxScenario.steps[scenario]) {
    status = next(next(status, "claim"), trigger)
    step += afterSteps
    rows.push([String(step), says[trigger], code(status), code(InvoiceState.emits[trigger])])
  }
  return table(["step", "what happens", "status", "event"], rows)
}

const param = (param: string | null): string => (param === "*" ? "the one at fault" : code(param))

const errorHead = (error: ErrorCatalog.ErrorCode): string => {
  const { message, ...row } = ErrorCatalog.catalog[error]
  const at = row.param === null ? "" : `, param ${param(row.param)}`
  return [
    `Status ${row.status}, type ${code(row.type)}${at}, ${row.retryable ? "retryable" : "not retryable"}.`,
    "",
    "```text",
    message,
    "```"
  ].join("\n")
}

const errorIndex = table(
  ["code", "status", "retryable"],
  ErrorCatalog.codes.map((error) => {
    const row = ErrorCatalog.catalog[error]
    return [`[\`${error}\`](./${error}.md)`, String(row.status), row.retryable ? "yes" : "no"]
  })
)

/** The pages with generated blocks. */
export const pages: ReadonlyArray<Page> = [
  {
    path: "guides/concepts.md",
    blocks: {
      "life of an invoice": stateDiagram(invoice),
      "statuses of an invoice": statusTable(invoice, meanings.invoiceStatuses),
      "event types": eventTypes,
      "life of a delivery": stateDiagram(deliveryStates),
      "statuses of a delivery": statusTable(deliveryStates, meanings.deliveryStatuses),
      "retry schedule": retrySchedule
    }
  },
  {
    path: "guides/sandbox.md",
    blocks: Object.fromEntries(
      SandboxScenario.Scenario.literals.map((scenario) => [`timeline of ${scenario}`, timeline(scenario)])
    )
  },
  {
    path: "guides/checking-invoices.md",
    blocks: { mistakes, "before the release": noteFor(installs["guides/checking-invoices.md"]!) }
  },
  { path: "guides/live-mode.md", blocks: liveCodes },
  { path: "errors/README.md", blocks: { "error index": errorIndex } },
  ...Object.entries(installs)
    .filter(([path]) => path !== "guides/checking-invoices.md")
    .map(([path, packages]) => ({
      path,
      blocks: { "before the release": noteFor(packages, { isPolish: path.endsWith("-pl.md") }) }
    })),
  ...ErrorCatalog.codes.map((error) => ({
    path: `errors/${error}.md`,
    blocks: { [`error ${error}`]: errorHead(error) }
  }))
]

/** Reads a page. */
export const read = (page: Page): string => readFileSync(join(import.meta.dirname, page.path), "utf8")

/** Returns `text` with its blocks generated again. */
export const print = (page: Page, text: string): string =>
  Object.entries(page.blocks).reduce((text, [name, body]) => fill(text, name, body), text)

if (import.meta.main) {
  const stale = pages.filter((page) => print(page, read(page)) !== read(page))
  if (process.argv.includes("--check")) {
    for (const page of stale) console.error(`docs/${page.path} is not current: run docs/diagrams.ts`)
    process.exitCode = stale.length === 0 ? 0 : 1
  } else {
    for (const page of stale) writeFileSync(join(import.meta.dirname, page.path), print(page, read(page)))
    console.log(stale.length === 0 ? "All pages are current." : `Printed ${stale.map(({ path }) => path).join(", ")}.`)
  }
}
