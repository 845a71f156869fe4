/**
 * State machines of the domain as Mermaid diagrams and as tables, read from their transitions.
 */
import { code, table } from "./blocks.ts"

/** What is read of a state machine. */
export interface Machine {
  readonly initial: string
  /** By status and trigger. */
  readonly transitions: Readonly<Record<string, Readonly<Record<string, string | null>>>>
  readonly final: ReadonlyArray<string>
  /** What is written on the arrow that leads to the first status. */
  readonly arrival: string
  /** What is written on the arrow of a trigger. */
  readonly label: (trigger: string) => string
}

// Where a status leads, and by which triggers, in the order of the table.
const arrows = (row: Readonly<Record<string, string | null>>): ReadonlyArray<[string, ReadonlyArray<string>]> => {
  const edges = Object.entries(row).flatMap(([trigger, target]) => (target === null ? [] : [{ trigger, target }]))
  return Array.from(
    Map.groupBy(edges, ({ target }) => target),
    ([target, edges]) => [target, edges.map(({ trigger }) => trigger)]
  )
}

/** Draws the machine. Triggers that lead from one status to the same other share an arrow. */
export const stateDiagram = (machine: Machine): string => {
  const lines = Object.entries(machine.transitions).flatMap(([status, row]) => [
    ...arrows(row).map(([target, triggers]) => `${status} --> ${target}: ${triggers.map(machine.label).join(", ")}`),
    ...(machine.final.includes(status) ? [`${status} --> [*]`] : [])
  ])
  return [
    "```mermaid",
    "stateDiagram-v2",
    ...[`[*] --> ${machine.initial}: ${machine.arrival}`, ...lines].map((line) => `    ${line}`),
    "```"
  ].join("\n")
}

/** Lists the statuses: what each means and where it leads. */
export const statusTable = (machine: Machine, meanings: Readonly<Record<string, string>>): string =>
  table(
    ["status", "meaning", "goes to"],
    Object.entries(machine.transitions).map(([status, row]) => {
      const targets = arrows(row).flatMap(([target]) => (target === status ? [] : [code(target)]))
      return [code(status), meanings[status]!, machine.final.includes(status) ? "final" : targets.join(", ")]
    })
  )
