/**
 * The faults of a running simulator: which there are, and which one an occasion picks.
 */
import { operations } from "../openapi/operations.ts"
import type { Serials } from "../state/Serials.ts"
import type { Fault, FaultPoint } from "./Fault.ts"
import { parseFault } from "./parseFault.ts"
import { points } from "./points.ts"

/** A fault that was added, with what became of it. */
export interface FaultState {
  readonly id: number
  readonly fault: Fault
  /** How many occasions it could have picked. */
  readonly seen: number
  /** How many it picked. */
  readonly fired: number
}

/** The faults of a running simulator. */
export interface SimulatorFaults {
  /** Adds a fault, and returns its id. @throws {TypeError} when it is malformed. */
  readonly add: (fault: Fault) => number
  readonly remove: (id: number) => void
  readonly clear: () => void
  readonly list: () => ReadonlyArray<FaultState>
}

interface Entry {
  readonly id: number
  readonly fault: Fault
  readonly points: ReadonlyArray<FaultPoint>
  readonly times: number
  seen: number
  fired: number
}

/** A fault that was picked. */
export interface Picked {
  readonly id: number
  readonly fault: Fault
}

/** An occasion: the point, and the context if it is known. */
export interface Occasion {
  readonly point: FaultPoint
  readonly context: string | null
}

/** Picks faults in the order in which they were added. */
export class Faults implements SimulatorFaults {
  readonly #serials: Serials
  #entries: Array<Entry> = []
  #added = 0

  constructor(serials: Serials) {
    this.#serials = serials
  }

  readonly add = (given: Fault): number => {
    const fault = parseFault(given)
    const times = fault.times ?? (fault.do === "token-login-ends" ? "always" : 1)
    this.#added += 1
    this.#entries.push({
      id: this.#added,
      fault,
      points: fault.on === undefined ? points[fault.do].usual : [fault.on],
      times: times === "always" ? Infinity : times,
      seen: 0,
      fired: 0
    })
    return this.#added
  }

  readonly remove = (id: number): void => {
    this.#entries = this.#entries.filter((entry) => entry.id !== id)
  }

  readonly clear = (): void => {
    this.#entries = []
  }

  readonly list = (): ReadonlyArray<FaultState> =>
    this.#entries.map(({ fault, fired, id, seen }) => ({ id, fault, seen, fired }))

  /** Whether a fault is still there. */
  has(id: number): boolean {
    return this.#entries.some((entry) => entry.id === id)
  }

  /** Returns the fault for an occasion. Every fault that could have been picked counts it; one is picked. */
  take({ context, point }: Occasion): Picked | undefined {
    const isOfApi = Object.hasOwn(operations, point)
    let picked: Picked | undefined
    for (const entry of this.#entries) {
      const { fault, points: chosen, times } = entry
      const isMeant = chosen.includes(point) || (isOfApi && chosen.includes("*"))
      if (!isMeant || !points[fault.do].possible.includes(point)) continue
      if (fault.context !== undefined && fault.context !== context) continue
      entry.seen += 1
      if (picked !== undefined || entry.seen < (fault.nth ?? 1) || entry.fired >= times) continue
      if (fault.probability !== undefined && this.#serials.fraction("fault") >= fault.probability) continue
      entry.fired += 1
      picked = { id: entry.id, fault }
    }
    return picked
  }
}
