/**
 * Decides when a worker claims and how much, as pure functions over the state of its fetcher.
 *
 * A delivery takes a slot from its claim to the end of its attempt. Completions take no slot, so that attempts do not wait
 * for commits; as many completions may be uncommitted as there are slots.
 *
 * A quarter of the slots is reserved for organizations that have no delivery in flight, one slot for each of them, so that
 * organizations whose receivers hang leave slots for others. The rest is general.
 */
import * as WorkerGroup from "../jobs/WorkerGroup.ts"
import type { Iteration } from "../jobs/WorkerLoop.ts"
import type { Completion } from "./Completion.ts"
import type { DeliveryClaim } from "./DeliveryQueue.ts"
import type { Promoted } from "./DeliveryScheduler.ts"

/** The state of a fetcher. Times are in milliseconds since the epoch. */
export interface FetcherState {
  /** The number of slots. */
  readonly concurrency: number
  /** The concurrency limit of one organization. */
  readonly organizationConcurrency: number
  /** Claimed deliveries whose attempt has not ended. */
  readonly attempting: number
  /** Whether a claim may find something. */
  readonly mayHaveWork: boolean
  /** The organizations that need a completion before a claim finds more of theirs. */
  readonly atConcurrencyLimit: ReadonlySet<string>
  /** How many general slots were free at the last claim, if organizations would have taken more; otherwise infinite. */
  readonly generalSlotsMissedAt: number
  /** When a claim was for reserved slots, too, by the monotonic clock in milliseconds. */
  readonly reserveClaimedAt: number
  /** Whether nothing with an earlier due time became available since the last claim. */
  readonly resume: boolean
  /** When the next retry or lease check is due, as far as this worker knows. */
  readonly promoteAt: number
  /** Whether the next claim is for all partitions, instead of those that the worker owns. */
  readonly claimsEverywhere: boolean
  /** When the worker claims from all partitions next, at the earliest. */
  readonly everywhereAt: number
  readonly stopping: boolean
}

/** The partitions that a worker owns; `undefined` if it owns all. */
export type OwnPartitions = ReadonlyArray<string> | undefined

/** Completions that were not written yet: in the buffer, and in all. */
export interface Backlog {
  readonly pending: number
  readonly uncommitted: number
}

/** The maximum number of deliveries that one statement claims. */
export const maxClaim = 250

/** The state of a worker that has not begun. */
export const initial = (concurrency: number, organizationConcurrency = concurrency): FetcherState => ({
  concurrency,
  organizationConcurrency,
  attempting: 0,
  mayHaveWork: false,
  atConcurrencyLimit: new Set(),
  generalSlotsMissedAt: Infinity,
  reserveClaimedAt: -Infinity,
  resume: false,
  promoteAt: 0,
  claimsEverywhere: false,
  everywhereAt: 0,
  stopping: false
})

/** Returns the number of free slots. It is not positive if too many completions are uncommitted. */
export const availableSlots = ({ attempting, concurrency }: FetcherState, { uncommitted }: Backlog): number =>
  concurrency - Math.max(attempting, attempting + uncommitted - concurrency)

/**
 * Returns the number of reserved slots: a quarter, but never so many that four organizations could not use their limits.
 *
 * With the defaults of 670 slots and 10 for an organization, 51 organizations fill the general slots. An account has at most
 * 100: its other 49 take a reserved slot each, and more than half of the reserved slots are left.
 */
export const reservedSlots = ({ concurrency, organizationConcurrency }: FetcherState): number =>
  Math.max(0, Math.min(Math.floor(concurrency / 4), concurrency - 4 * organizationConcurrency))

/** Returns the number of free slots that every organization may take. */
export const generalSlots = (state: FetcherState, backlog: Backlog): number =>
  Math.max(0, availableSlots(state, backlog) - reservedSlots(state))

/** How often a claim for general slots is for reserved slots, too, in milliseconds. */
export const reserveEveryMs = 50

/** How many deliveries a statement claims at most, and how many general slots there are for them. */
export interface ClaimSize {
  readonly limit: number
  readonly general: number
}

/**
 * Returns the size of a claim when so many slots are free. A claim for reserved slots scans more organizations than it serves,
 * so it is made when no general slot is free, and every few milliseconds otherwise.
 */
export const claimSize = (state: FetcherState, free: number, monotonicMs: number): ClaimSize => {
  const general = Math.max(0, free - reservedSlots(state))
  const isForReserve = general === 0 || monotonicMs - state.reserveClaimedAt >= reserveEveryMs
  const limit = Math.min(maxClaim, isForReserve ? free : general)
  return { limit, general: Math.min(limit, general) }
}

/** Returns whether a statement now would claim. */
export const wouldClaim = (state: FetcherState, backlog: Backlog): boolean =>
  state.mayHaveWork && availableSlots(state, backlog) > 0

/** Returns whether the next statement is as large as it should become. */
export const isBatchReady = (state: FetcherState, backlog: Backlog): boolean =>
  (state.mayHaveWork ? generalSlots(state, backlog) : backlog.pending) >=
  Math.min(maxClaim, (state.concurrency - reservedSlots(state)) / 2)

/** The worker was woken, or has learned otherwise that there may be work. */
export const woken = (state: FetcherState): FetcherState => ({ ...state, mayHaveWork: true })

/**
 * The scheduler has promoted. Promoted deliveries have earlier due times, so the next claim reads from the front. It is for all
 * partitions if it promoted retries, whose owners are not woken, and once in a poll interval, in case that a partition has no
 * owner, or one that cannot keep up.
 */
export const promoted = (state: FetcherState, result: Promoted, now: number, pollIntervalMs: number): FetcherState => {
  const isTurn = result.retries > 0 || (result.anyDue && now >= state.everywhereAt)
  return {
    ...state,
    promoteAt: Math.min(result.next ?? Infinity, now + pollIntervalMs),
    mayHaveWork: state.mayHaveWork || result.anyDue,
    resume: false,
    claimsEverywhere: state.claimsEverywhere || isTurn,
    everywhereAt: isTurn ? now + pollIntervalMs : state.everywhereAt
  }
}

/** Returns whether these completions free slots of an organization that is at its concurrency limit. */
export const unblocksOrganization = (
  { atConcurrencyLimit }: FetcherState,
  completions: ReadonlyArray<Completion>
): boolean =>
  atConcurrencyLimit.size > 0 && completions.some(({ organization_id }) => atConcurrencyLimit.has(organization_id))

/** Plans the statement that writes these completions: how many slots it may fill, which is 0 if there is nothing to claim. */
export const planned = (
  state: FetcherState,
  completions: ReadonlyArray<Completion>,
  backlog: Backlog
): { readonly state: FetcherState; readonly limit: number } => {
  const mayHaveWork =
    !state.stopping &&
    (state.mayHaveWork ||
      unblocksOrganization(state, completions) ||
      generalSlots(state, backlog) > state.generalSlotsMissedAt)
  return {
    state: { ...state, mayHaveWork },
    limit: mayHaveWork ? Math.max(0, availableSlots(state, backlog)) : 0
  }
}

const isForeign = (own: OwnPartitions, organization: string): boolean =>
  own !== undefined && !own.includes(WorkerGroup.partitionOf(organization))

/**
 * The statement of this size has claimed. A worker that finds work only in the partitions of others goes on with them; otherwise
 * the next claim is for its own again.
 */
export const claimed = (
  state: FetcherState,
  claim: DeliveryClaim,
  own?: OwnPartitions,
  { general, limit }: ClaimSize = { limit: Infinity, general: Infinity },
  monotonicMs = 0
): FetcherState => ({
  ...state,
  attempting: state.attempting + claim.deliveries.length,
  mayHaveWork: claim.more,
  atConcurrencyLimit: new Set(claim.atConcurrencyLimit),
  generalSlotsMissedAt:
    claim.atConcurrencyLimit.length > 0 && general < state.organizationConcurrency ? general : Infinity,
  reserveClaimedAt: limit > general ? monotonicMs : state.reserveClaimedAt,
  resume: true,
  claimsEverywhere:
    state.claimsEverywhere &&
    claim.deliveries.length > 0 &&
    claim.deliveries.every(({ organization_id }) => isForeign(own, organization_id)) &&
    claim.atConcurrencyLimit.every((organization) => isForeign(own, organization))
})

/** Returns the organizations of these completions whose slots only the claims of another worker fill. A worker that stops fills none. */
export const foreignFreed = (
  { claimsEverywhere, stopping }: FetcherState,
  completions: ReadonlyArray<Completion>,
  own: OwnPartitions
): ReadonlyArray<string> => {
  const organizations = completions.map(({ organization_id }) => organization_id)
  if (stopping) return organizations
  return claimsEverywhere ? [] : organizations.filter((organization) => isForeign(own, organization))
}

/** An attempt has ended. */
export const attemptEnded = (state: FetcherState): FetcherState => ({ ...state, attempting: state.attempting - 1 })

/** Completions were written. Their retries may be due before the next promotion. */
export const completed = (state: FetcherState, completions: ReadonlyArray<Completion>): FetcherState => {
  const promoteAt = completions.reduce(
    (earliest, { next_retry_at }) =>
      next_retry_at === null ? earliest : Math.min(earliest, Date.parse(next_retry_at)),
    state.promoteAt
  )
  return promoteAt === state.promoteAt ? state : { ...state, promoteAt }
}

/** The worker stops: it claims nothing more. */
export const stopped = (state: FetcherState): FetcherState => ({ ...state, stopping: true, mayHaveWork: false })

/** When the next promotion is due. A worker that stops promotes nothing, so it does not wake for one. */
export const sleepUntil = ({ promoteAt, stopping }: FetcherState): number => (stopping ? Infinity : promoteAt)

/** Returns what the worker does after a statement with this limit has claimed as many. */
export const nextIteration = (
  state: FetcherState,
  { backlog, claimed, limit }: { readonly limit: number; readonly claimed: number; readonly backlog: Backlog }
): Iteration => {
  if (limit > 0 && claimed === 0 && state.mayHaveWork) return "backoff"
  return wouldClaim(state, backlog) ? "again" : { sleepUntil: sleepUntil(state) }
}
