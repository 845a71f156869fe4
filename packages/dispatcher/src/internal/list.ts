/**
 * A list whose members enter at its end and leave from anywhere.
 *
 * A `Set` would do, were it not for its memory. One that is filled and emptied all the time outgrows its table again and
 * again, and V8 has each table refer to the next for the sake of iterators. Once one of them has grown old, every table after it
 * lives until the next full collection, with all that it held.
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

  /** Puts an entry at the end, also one that is in it already, and takes it out of any other. */
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

  /** Takes an entry out. Whether it was in it. */
  delete(entry: Entry<A>): boolean {
    if (entry.list !== this) return false
    const { next, previous } = entry
    if (previous === undefined) this.#first = next
    else previous.next = next
    if (next === undefined) this.#last = previous
    else next.previous = previous
    // What has left keeps nobody alive.
    entry.list = entry.previous = entry.next = undefined
    this.#size--
    return true
  }

  /** Those that are in it now, in their order. */
  [Symbol.iterator](): Iterator<A> {
    const values: Array<A> = []
    for (let entry = this.#first; entry !== undefined; entry = entry.next) values.push(entry.value)
    return values.values()
  }
}
