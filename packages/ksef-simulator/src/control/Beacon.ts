/**
 * The beacon (Latarnia): the availability that KSeF reports about itself.
 */

/** The state that the beacon reports. */
export const beaconStatuses = ["AVAILABLE", "MAINTENANCE", "FAILURE", "TOTAL_FAILURE"] as const

/** The state that the beacon reports. */
export type BeaconStatus = (typeof beaconStatuses)[number]

/** A message of the beacon. */
export interface BeaconMessage {
  readonly id: string
  readonly eventId: number
  readonly category: "MAINTENANCE" | "FAILURE" | "TOTAL_FAILURE"
  readonly type: "MAINTENANCE_ANNOUNCEMENT" | "FAILURE_START" | "FAILURE_END"
  readonly title: string
  readonly text: string
  readonly start: string
  readonly end: string | null
  readonly version: number
  readonly published: string
}

/** Reports the last status that was set. */
export class Beacon {
  readonly #now: () => number
  #status: BeaconStatus = "AVAILABLE"
  #messages: ReadonlyArray<BeaconMessage> = []
  #published = 0

  constructor(now: () => number) {
    this.#now = now
  }

  get status(): BeaconStatus {
    return this.#status
  }

  get messages(): ReadonlyArray<BeaconMessage> {
    return this.#messages
  }

  /** Changes what the beacon says. A text becomes a message; going back to `AVAILABLE` ends what was announced. */
  set(status: BeaconStatus, text?: string): void {
    const now = new Date(this.#now()).toISOString()
    const previous = this.#status
    const ended = status === "AVAILABLE" ? this.#messages.at(-1) : undefined
    const eventId = ended?.eventId ?? (this.#messages.at(-1)?.eventId ?? 0) + 1
    this.#published += 1
    this.#status = status
    const category = status === "AVAILABLE" ? previous : status
    if (category === "AVAILABLE") return
    const message: BeaconMessage = {
      id: `SIMULATED-${this.#published}`,
      eventId,
      category,
      type:
        status === "AVAILABLE"
          ? "FAILURE_END"
          : status === "MAINTENANCE"
            ? "MAINTENANCE_ANNOUNCEMENT"
            : "FAILURE_START",
      title: `KSeF simulator: ${status}`,
      text: text ?? `KSeF simulator: ${status}`,
      start: ended?.start ?? now,
      end: status === "AVAILABLE" ? now : null,
      version: 1,
      published: now
    }
    this.#messages = [...this.#messages.slice(-99), message]
  }

  /** The answer of `GET /status`. */
  describe(): object {
    return this.#status === "AVAILABLE"
      ? { status: this.#status }
      : { status: this.#status, messages: this.#messages.slice(-1) }
  }
}
