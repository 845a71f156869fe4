/**
 * A budget of bytes: shares out the memory for large request bodies.
 *
 * Bytes count when they arrive, never when they are announced. A body is paused while its owner uses its share, or as much as
 * is free: however many owners fill their shares, another finds room. Paused bodies would wait for each other if all were
 * incomplete, so the oldest is read on.
 */

export interface ByteBudgetOptions {
  /** The memory of all bodies together, in bytes. */
  readonly totalBytes: number
  /** The memory of one owner, in bytes. */
  readonly ownerBytes: number
  /** The largest body, in bytes. */
  readonly bodyBytes: number
}

/** The memory of one body, from its first counted bytes until it is answered. */
export interface BodyShare {
  /** Counts bytes that arrived. Returns whether to read on; if not, `onTurn` is called when it may. */
  readonly add: (bytes: number) => boolean
  /** Marks the body as complete. Its memory stays counted. */
  readonly complete: () => void
  /** Frees the memory. */
  readonly close: () => void
}

export interface ByteBudget {
  /** Begins to count a body of `length` bytes, or of an unknown length. */
  readonly open: (owner: string, length: number | undefined, onTurn: () => void) => BodyShare
  /** Whether a body waits for the memory of other owners. */
  readonly isExhausted: () => boolean
  /** How many bytes are counted. */
  readonly usedBytes: () => number
}

/** The bodies of one owner, or of all. */
interface Group {
  used: number
  /** How many bodies are complete. They free their memory without reading more. */
  complete: number
  /** Bodies that are not complete, oldest first. */
  readonly receiving: Set<Entry>
}

interface Entry {
  readonly owner: Group
  readonly length: number | undefined
  readonly onTurn: () => void
  received: number
  /** The bytes that a resumed body may receive: counted in advance, so that freed memory completes one body, not parts of many. */
  granted: number
  isComplete: boolean
}

// The most that one read of a socket returns, in bytes.
const readBytes = 64 * 1024

const makeGroup = (): Group => ({ used: 0, complete: 0, receiving: new Set() })

const isOldest = (group: Group, entry: Entry): boolean => group.receiving.values().next().value === entry

/** Makes the memory of one kind of body. */
export const make = ({ bodyBytes, ownerBytes, totalBytes }: ByteBudgetOptions): ByteBudget => {
  const owners = new Map<string, Group>()
  const all = makeGroup()
  const paused = new Set<Entry>()

  // A resumed body reserves the rest of its size from its owner's share at once, and from the total in steps of one read: what it
  // does not send delays nobody else.
  const count = (entry: Entry, received: number, granted: number): void => {
    entry.owner.used += received - entry.received + granted - entry.granted
    all.used += received - entry.received + Math.min(granted, readBytes) - Math.min(entry.granted, readBytes)
    entry.received = received
    entry.granted = granted
  }

  const leftOf = ({ length, received }: Entry): number => (length ?? bodyBytes) - received

  // An owner's share has room for one body that is read on beyond the others.
  const ordinaryBytes = ownerBytes - bodyBytes
  // Left to owners that use little, as long as there are others.
  const reservedBytes = totalBytes / 6

  const mayRead = (entry: Entry): boolean => {
    const { owner } = entry
    const free = totalBytes - all.used
    if (free > 0 && (entry.granted > 0 || owner.used < Math.min(ordinaryBytes, free))) return true
    if (free > reservedBytes && isOldest(owner, entry)) {
      return owner.complete === 0 || owner.used + leftOf(entry) <= ownerBytes
    }
    return all.complete === 0 && isOldest(all, entry)
  }

  const resume = (): void => {
    if (paused.size === 0) return
    for (const entry of all.receiving) {
      if (!paused.has(entry) || !mayRead(entry)) continue
      paused.delete(entry)
      count(entry, entry.received, entry.length === undefined ? readBytes : leftOf(entry))
      entry.onTurn()
    }
  }

  const groupsOf = ({ owner }: Entry): ReadonlyArray<Group> => [owner, all]

  const endReceiving = (entry: Entry): void => {
    for (const group of groupsOf(entry)) group.receiving.delete(entry)
    paused.delete(entry)
    count(entry, entry.received, 0)
  }

  const setComplete = (entry: Entry, isComplete: boolean): void => {
    if (entry.isComplete === isComplete) return
    entry.isComplete = isComplete
    for (const group of groupsOf(entry)) group.complete += isComplete ? 1 : -1
  }

  return {
    open: (name, length, onTurn) => {
      const owner = owners.get(name) ?? makeGroup()
      owners.set(name, owner)
      const entry: Entry = { owner, length, onTurn, received: 0, granted: 0, isComplete: false }
      for (const group of groupsOf(entry)) group.receiving.add(entry)

      return {
        add: (bytes) => {
          count(entry, entry.received + bytes, Math.max(0, entry.granted - bytes))
          if (mayRead(entry)) return true
          count(entry, entry.received, 0)
          paused.add(entry)
          return false
        },
        complete: () => {
          endReceiving(entry)
          setComplete(entry, true)
          resume()
        },
        close: () => {
          endReceiving(entry)
          setComplete(entry, false)
          count(entry, 0, 0)
          if (owner.complete + owner.receiving.size === 0 && owners.get(name) === owner) owners.delete(name)
          resume()
        }
      }
    },
    isExhausted: () => [...paused].some(({ owner }) => owner.used < ordinaryBytes),
    usedBytes: () => all.used
  }
}
