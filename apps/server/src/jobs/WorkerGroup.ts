/**
 * The workers on one database, and the partitions of the organizations that each of them owns, as pure functions.
 *
 * Workers announce themselves with notifications. Each keeps its own list of the others, so two lists may differ for a
 * while: a partition may have two owners then, or none. Ownership is therefore a preference, never a right: a worker claims
 * from its own partitions first and from all of them every one to two seconds, and the locks of the claim decide.
 */

/** The partitions: the last characters of organization identifiers. */
export const partitions: ReadonlyArray<string> = Array.from("0123456789abcdefghjkmnpqrstvwxyz")

/** How often a worker announces itself, in milliseconds. */
export const announceEveryMs = 3000

/** The time after the last announcement at which a worker is removed, in milliseconds: two announcements may be lost. */
export const memberTimeoutMs = 8000

/** The group as one of its members knows it. Times are monotonic, in milliseconds. */
export interface WorkerGroup {
  readonly self: string
  /** The time of the last announcement of each other member. */
  readonly lastSeenAt: ReadonlyMap<string, number>
}

/** The group of a worker that knows no other. */
export const alone = (self: string): WorkerGroup => ({ self, lastSeenAt: new Map() })

/** Adds a member that announced itself. Removes members past their timeout. */
export const seen = ({ lastSeenAt, self }: WorkerGroup, member: string, now: number): WorkerGroup => ({
  self,
  lastSeenAt: new Map([...lastSeenAt, [member, now] as const].filter(([, at]) => now - at < memberTimeoutMs))
})

/** Removes a member that left. */
export const left = ({ lastSeenAt, self }: WorkerGroup, member: string): WorkerGroup => ({
  self,
  lastSeenAt: new Map([...lastSeenAt].filter(([name]) => name !== member))
})

/** Returns the partitions of this worker; `undefined` if it is alone, and owns all. */
export const ownPartitions = ({ lastSeenAt, self }: WorkerGroup, now: number): ReadonlyArray<string> | undefined => {
  const others = [...lastSeenAt].filter(([, at]) => now - at < memberTimeoutMs).map(([name]) => name)
  if (others.length === 0) return undefined
  const rank = others.filter((name) => name < self).length
  return partitions.filter((_, index) => index % (others.length + 1) === rank)
}

/** Returns the partition of an organization. */
export const partitionOf = (organizationId: string): string => organizationId.slice(-1)

const partitionsWord = "partitions="

/**
 * Returns the payload of a notification: its sender, its words, and the partitions that the word `deliveries` is for. Without
 * these it is for all.
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
