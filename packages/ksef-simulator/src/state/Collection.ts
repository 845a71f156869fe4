/**
 * Records of one kind by their keys, in the order in which they came, written to the journal as they change.
 */
import type { Journal } from "./Journal.ts"

/** The records of one kind. */
export class Collection<A> {
  readonly kind: string
  readonly #journal: Journal
  readonly #records: Map<string, A>

  /** `records` are those that the journal holds already. */
  constructor(kind: string, journal: Journal, records: ReadonlyMap<string, A> = new Map()) {
    this.kind = kind
    this.#journal = journal
    this.#records = new Map(records)
  }

  get(key: string): A | undefined {
    return this.#records.get(key)
  }

  set(key: string, record: A): A {
    this.#records.set(key, record)
    this.#journal.append(this.kind, key, record)
    return record
  }

  /** Replaces members of a record that is there. */
  update(key: string, change: Partial<A>): A {
    const record = this.#records.get(key)
    if (record === undefined) throw new Error(`There is no ${this.kind} ${key}`)
    return this.set(key, { ...record, ...change })
  }

  delete(key: string): void {
    if (this.#records.delete(key)) this.#journal.append(this.kind, key, null)
  }

  /** The key of the record that came first. */
  firstKey(): string | undefined {
    return this.#records.keys().next().value
  }

  values(): IterableIterator<A> {
    return this.#records.values()
  }

  get size(): number {
    return this.#records.size
  }
}
