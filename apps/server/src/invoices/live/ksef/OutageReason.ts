/** The reason of an outage that the beacon names, for the messages of the invoices that wait for its end. It decides nothing. */
import type { Ids } from "@govoice/core"

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

  /** Takes the status of the beacon, and returns the invoices that are to be told the reason. */
  report(status: string | undefined): ReadonlyArray<Ids.InvoiceId> {
    this.#sentence = status !== undefined && reasons.has(status) ? ` KSeF reports ${status}.` : ""
    if (this.#sentence === "") return []
    const tried = [...this.#tried]
    this.#tried.clear()
    return tried
  }

  /** The outage is over. */
  end(): void {
    this.#sentence = ""
    this.#tried.clear()
  }
}
