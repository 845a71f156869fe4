/**
 * The documents that were sent, and the ways to find them: by session, by KSeF number, by hash, and by what makes a
 * duplicate.
 */
import { Collection } from "./Collection.ts"
import type { Journal } from "./Journal.ts"
import type { Header, Invoice } from "./records.ts"

const duplicateKey = ({ kind, number, sellerNip }: Header): string => JSON.stringify([sellerNip, kind, number])

/** All documents. */
export class Invoices {
  readonly #records: Collection<Invoice>
  readonly #bySession = new Map<string, Array<string>>()
  readonly #byNumber = new Map<string, string>()
  readonly #byDuplicateKey = new Map<string, string>()

  constructor(journal: Journal, records: ReadonlyMap<string, Invoice>) {
    this.#records = new Collection("invoice", journal, records)
    for (const record of records.values()) this.#index(record)
  }

  get(reference: string): Invoice | undefined {
    return this.#records.get(reference)
  }

  add(invoice: Invoice): Invoice {
    this.#index(invoice)
    return this.#records.set(invoice.reference, invoice)
  }

  update(reference: string, change: Partial<Invoice>): Invoice {
    const invoice = this.#records.update(reference, change)
    this.#indexAccepted(invoice)
    return invoice
  }

  /** The documents of a session in the order of their ordinals. */
  ofSession(session: string): ReadonlyArray<Invoice> {
    return (this.#bySession.get(session) ?? []).map((reference) => this.#records.get(reference)!)
  }

  countOf(session: string): number {
    return this.#bySession.get(session)?.length ?? 0
  }

  byNumber(ksefNumber: string): Invoice | undefined {
    const reference = this.#byNumber.get(ksefNumber)
    return reference === undefined ? undefined : this.#records.get(reference)
  }

  /** The accepted document that a document with this header would be a duplicate of. */
  original(header: Header): Invoice | undefined {
    const reference = this.#byDuplicateKey.get(duplicateKey(header))
    return reference === undefined ? undefined : this.#records.get(reference)
  }

  get size(): number {
    return this.#records.size
  }

  values(): IterableIterator<Invoice> {
    return this.#records.values()
  }

  #index(invoice: Invoice): void {
    const known = this.#bySession.get(invoice.session)
    if (known === undefined) this.#bySession.set(invoice.session, [invoice.reference])
    else known.push(invoice.reference)
    this.#indexAccepted(invoice)
  }

  #indexAccepted({ header, ksefNumber, reference }: Invoice): void {
    if (ksefNumber === null || header === null) return
    this.#byNumber.set(ksefNumber, reference)
    this.#byDuplicateKey.set(duplicateKey(header), reference)
  }
}
