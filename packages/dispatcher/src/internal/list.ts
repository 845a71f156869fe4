/**
 * A doubly linked list: entries are added at the end and deleted anywhere.
 *
 * Used in place of `Set` for its memory. A `Set` with constant turnover replaces its table again and again, and V8 links each old
 * table to the next one for iterators. Once a table is in the old generation, all tables after it live until the next full
 * collection, with their members.
 */
export class Entry<A> {
  readonly value: A
  list: List<A> | undefined
  previous: Entry<A> | undefined
  next: Entry<A> | undefined

  constructor(value: A) {
    this.value = value
  }
}

export class List<A> {
  #first: Entry<A> | undefined
  #last: Entry<A> | undefined
  #size = 0

  get size(): number {
    return this.#size
  }

  get first(): A | undefined {
    return this.#first?.value
  }

  /** Moves an entry to the end of this list, from this or any other list. */
  add(entry: Entry<A>): void {
    if (entry === this.#last) return
    entry.list?.delete(entry)
    entry.list = this
    entry.previous = this.#last
    if (this.#last === undefined) this.#first = entry
    else this.#last.next = entry
    this.#last = entry
    this.#size++
  }

  /** Deletes an entry. Returns whether it was in this list. */
  delete(entry: Entry<A>): boolean {
    if (entry.list !== this) return false
    const { next, previous } = entry
    if (previous === undefined) this.#first = next
    else previous.next = next
    if (next === undefined) this.#last = previous
    else next.previous = previous
    // A deleted entry keeps no other alive.
    entry.list = entry.previous = entry.next = undefined
    this.#size--
    return true
  }

  /** Iterates over a snapshot, in order. */
  [Symbol.iterator](): Iterator<A> {
    const values: Array<A> = []
    for (let entry = this.#first; entry !== undefined; entry = entry.next) values.push(entry.value)
    return values.values()
  }
}
