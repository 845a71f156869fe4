/** The reason of an outage that the beacon names, for the messages of the invoices that wait for its end. It decides nothing. */
import type { Ids } from "@govoice/core"
import { Effect } from "effect"

// Other words of the beacon are none that an owner knows.
const reasons: ReadonlySet<string> = new Set(["MAINTENANCE", "FAILURE", "TOTAL_FAILURE"])

/** How many of the invoices that were tried last are told the reason. */
const maxTried = 1000

/** The reason of the outage of a process, and the invoices that were tried before it was known. */
export class OutageReason {
  #sentence = ""
  readonly #tried = new Set<Ids.InvoiceId>()

  /** The reason as a sentence that follows another one; empty where none is known. */
  get sentence(): string {
    return this.#sentence
  }

  /** Remembers an invoice that was tried in vain. */
  tried(id: Ids.InvoiceId): void {
    this.#tried.delete(id)
    this.#tried.add(id)
    for (const oldest of this.#tried) {
      if (this.#tried.size <= maxTried) return
      this.#tried.delete(oldest)
    }
  }

  /** Takes the status of the beacon. */
  report(status: string | undefined): void {
    this.#sentence = status !== undefined && reasons.has(status) ? ` KSeF reports ${status}.` : ""
  }

  /** Tells the reason to the invoices that were tried, where it is known. They are kept for the next time where that fails. */
  tell<E, R>(
    explain: (tried: ReadonlyArray<Ids.InvoiceId>, sentence: string) => Effect.Effect<unknown, E, R>
  ): Effect.Effect<void, E, R> {
    return Effect.suspend(() => {
      const tried = [...this.#tried]
      if (this.#sentence === "" || tried.length === 0) return Effect.void
      return Effect.map(explain(tried, this.#sentence), () => {
        for (const id of tried) this.#tried.delete(id)
      })
    })
  }

  /** The outage is over. */
  end(): void {
    this.#sentence = ""
    this.#tried.clear()
  }
}
