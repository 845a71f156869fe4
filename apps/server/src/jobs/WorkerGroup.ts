/**
 * The workers on one database, and the partitions of the organizations that each of them owns, as pure functions.
 *
 * Workers announce themselves with notifications. Each keeps its own list of the others, so two lists may differ for a
 * while: a partition may have two owners then, or none. Ownership is therefore a preference, never a right: a worker claims
 * from its own partitions first and from all of them once a second, and the locks of the claim decide.
 */

/** The partitions: the last characters of organization identifiers. */
export const partitions: ReadonlyArray<string> = Array.from("0123456789abcdefghjkmnpqrstvwxyz")

/** How often a worker announces itself, in milliseconds. */
export const announceEveryMs = 3000

/** After how long a silent worker is forgotten, in milliseconds: two announcements may be lost. */
export const silentForMs = 8000

/** The group as one of its members knows it. Times are monotonic, in milliseconds. */
export interface WorkerGroup {
  readonly self: string
  /** When each other member was heard last. */
  readonly heardAt: ReadonlyMap<string, number>
}

/** The group of a worker that has not heard of another. */
export const alone = (self: string): WorkerGroup => ({ self, heardAt: new Map() })

/** A member was heard. Members that were silent for too long are forgotten. */
export const heard = ({ heardAt, self }: WorkerGroup, member: string, now: number): WorkerGroup => ({
  self,
  heardAt: new Map([...heardAt, [member, now] as const].filter(([, at]) => now - at < silentForMs))
})

/** A member has left. */
export const left = ({ heardAt, self }: WorkerGroup, member: string): WorkerGroup => ({
  self,
  heardAt: new Map([...heardAt].filter(([name]) => name !== member))
})

/** Returns the partitions of this worker; `undefined` if it is alone, and owns all. */
export const ownPartitions = ({ heardAt, self }: WorkerGroup, now: number): ReadonlyArray<string> | undefined => {
  const others = [...heardAt].filter(([, at]) => now - at < silentForMs).map(([name]) => name)
  if (others.length === 0) return undefined
  const rank = others.filter((name) => name < self).length
  return partitions.filter((_, index) => index % (others.length + 1) === rank)
}

/** Returns the partition of an organization. */
export const partitionOf = (organizationId: string): string => organizationId.slice(-1)

const partitionsWord = "partitions="

/**
 * Returns the payload of a notification: its sender, its words, and the partitions that the word `deliveries` is for. Without
 * these it is for all, as it is for processes of versions that do not know them.
 */
export const notification = (
  sender: string,
  words: Iterable<string>,
  ofDeliveries: ReadonlySet<string> | undefined
): string => {
  const all = [sender, ...words]
  const isForSome = ofDeliveries !== undefined && all.includes("deliveries")
  return (isForSome ? [...all, `${partitionsWord}${[...ofDeliveries].join("")}`] : all).join(" ")
}

/** Returns the partitions in these words of a notification; `undefined` if it is for all. */
export const notifiedPartitions = (words: ReadonlyArray<string>): ReadonlyArray<string> | undefined => {
  const word = words.find((word) => word.startsWith(partitionsWord))
  return word === undefined ? undefined : Array.from(word.slice(partitionsWord.length))
}
