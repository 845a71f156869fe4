/**
 * Renders the state machines of the domain as Mermaid diagrams and as tables.
 */
import { code, table } from "./blocks.ts"

/** A state machine. */
export interface Machine {
  readonly initial: string
  /** The next status, by status and trigger. */
  readonly transitions: Readonly<Record<string, Readonly<Record<string, string | null>>>>
  readonly final: ReadonlyArray<string>
  /** The label of the arrow to the initial status. */
  readonly arrival: string
  /** The label of a trigger. */
  readonly label: (trigger: string) => string
}

// The next statuses with their triggers, in the order of the table.
const arrows = (row: Readonly<Record<string, string | null>>): ReadonlyArray<[string, ReadonlyArray<string>]> => {
  const edges = Object.entries(row).flatMap(([trigger, target]) => (target === null ? [] : [{ trigger, target }]))
  return Array.from(
    Map.groupBy(edges, ({ target }) => target),
    ([target, edges]) => [target, edges.map(({ trigger }) => trigger)]
  )
}

/** Returns the diagram. Triggers between the same two statuses share an arrow. */
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

/** Returns the table of the statuses with their meaning and the next statuses. */
export const statusTable = (machine: Machine, meanings: Readonly<Record<string, string>>): string =>
  table(
    ["status", "meaning", "goes to"],
    Object.entries(machine.transitions).map(([status, row]) => {
      const targets = arrows(row).flatMap(([target]) => (target === status ? [] : [code(target)]))
      return [code(status), meanings[status]!, machine.final.includes(status) ? "final" : targets.join(", ")]
    })
  )
