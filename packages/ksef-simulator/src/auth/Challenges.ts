/**
 * Challenges that were handed out. Each is good for one login within ten minutes.
 */
import { lifetimes } from "../lifetimes.ts"
import type { Serials } from "../state/Serials.ts"
import type { Clock } from "../time/Clock.ts"

/** A challenge. */
export interface Challenge {
  readonly value: string
  readonly timestampMs: number
  /** The digits of its time below the millisecond. */
  readonly digits: string
}

// A challenge takes no login, so that anybody can ask for any number of them.
const kept = 10_000

/** Hands out challenges and takes them back. */
export class Challenges {
  readonly #clock: Clock
  readonly #serials: Serials
  readonly #open = new Map<string, Challenge>()

  constructor(clock: Clock, serials: Serials) {
    this.#clock = clock
    this.#serials = serials
  }

  create(): Challenge {
    const timestampMs = Math.floor(this.#clock.now())
    const challenge = {
      value: this.#serials.reference("challenge", timestampMs),
      timestampMs,
      digits: String(5000 + Math.floor(this.#serials.fraction("time") * 5000))
    }
    this.#open.set(challenge.value, challenge)
    if (this.#open.size > kept) this.#open.delete(this.#open.keys().next().value!)
    return challenge
  }

  /** Returns a challenge that is open, once. */
  take(value: string): Challenge | undefined {
    const challenge = this.#open.get(value)
    this.#open.delete(value)
    const isFresh =
      challenge !== undefined && this.#clock.now() < challenge.timestampMs + this.#clock.scaled(lifetimes.challenge)
    return isFresh ? challenge : undefined
  }
}
