/**
 * Numbers that never repeat, drawn from a seed: the same seed gives the same numbers in the same order.
 */
import { createHash } from "node:crypto"
import { KsefNumber, PolishTime, ReferenceNumber } from "@govoice/ksef/format"

/** Draws reference numbers, KSeF numbers and other digits. */
export class Serials {
  readonly #seed: string
  #drawn: number

  /** `drawn` is how many were drawn before, by an earlier process with the same state. */
  constructor(seed: string, drawn = 0) {
    this.#seed = seed
    this.#drawn = drawn
  }

  /** How many were drawn. */
  get drawn(): number {
    return this.#drawn
  }

  /** Returns hexadecimal digits, at most 64. */
  digits(use: string, length: number): string {
    this.#drawn += 1
    return createHash("sha256").update(`${this.#seed} ${use} ${this.#drawn}`).digest("hex").slice(0, length)
  }

  /** Returns a number from 0 up to, and without, 1. */
  fraction(use: string): number {
    return Number.parseInt(this.digits(use, 12), 16) / 2 ** 48
  }

  /** Returns the reference number of a new record. */
  reference(kind: ReferenceNumber.Kind, now: number): string {
    return ReferenceNumber.make(kind, { day: PolishTime.compactDay(now), serial: this.digits(kind, 20) })
  }

  /** Returns the KSeF number of an invoice that is accepted. */
  ksefNumber(sellerNip: string, now: number): string {
    return KsefNumber.make({ nip: sellerNip, day: PolishTime.compactDay(now), serial: this.digits("number", 12) })
  }
}
