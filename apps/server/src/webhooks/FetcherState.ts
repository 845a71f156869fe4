/**
 * Decides when a worker claims and how much, as pure functions over the state of its fetcher.
 *
 * A delivery takes a slot from its claim to the end of its attempt. Completions take no slot, so that attempts do not wait
 * for commits; as many completions may be uncommitted as there are slots.
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
  /** Claimed deliveries whose attempt has not ended. */
  readonly attempting: number
  /** Whether a claim may find something. */
  readonly mayHaveWork: boolean
  /** The organizations that need a completion before a claim finds more of theirs. */
  readonly atConcurrencyLimit: ReadonlySet<string>
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
export const initial = (concurrency: number): FetcherState => ({
  concurrency,
  attempting: 0,
  mayHaveWork: false,
  atConcurrencyLimit: new Set(),
  resume: false,
  promoteAt: 0,
  claimsEverywhere: false,
  everywhereAt: 0,
  stopping: false
})

/** Returns the number of free slots. It is not positive if too many completions are uncommitted. */
export const availableSlots = ({ attempting, concurrency }: FetcherState, { uncommitted }: Backlog): number =>
  concurrency - Math.max(attempting, attempting + uncommitted - concurrency)

/** Returns whether a statement now would claim. */
export const wouldClaim = (state: FetcherState, backlog: Backlog): boolean =>
  state.mayHaveWork && availableSlots(state, backlog) > 0

/** Returns whether the next statement is as large as it should become. */
export const isBatchReady = (state: FetcherState, backlog: Backlog): boolean =>
  (state.mayHaveWork ? availableSlots(state, backlog) : backlog.pending) >= Math.min(maxClaim, state.concurrency / 2)

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
  const mayHaveWork = !state.stopping && (state.mayHaveWork || unblocksOrganization(state, completions))
  return {
    state: { ...state, mayHaveWork },
    limit: mayHaveWork ? Math.max(0, availableSlots(state, backlog)) : 0
  }
}

const isForeign = (own: OwnPartitions, organization: string): boolean =>
  own !== undefined && !own.includes(WorkerGroup.partitionOf(organization))

/**
 * The statement has claimed. A worker that finds work only in the partitions of others goes on with them; otherwise the next
 * claim is for its own again.
 */
export const claimed = (state: FetcherState, claim: DeliveryClaim, own?: OwnPartitions): FetcherState => ({
  ...state,
  attempting: state.attempting + claim.deliveries.length,
  mayHaveWork: claim.more,
  atConcurrencyLimit: new Set(claim.atConcurrencyLimit),
  resume: true,
  claimsEverywhere:
    state.claimsEverywhere &&
    claim.deliveries.length > 0 &&
    claim.deliveries.every(({ organization_id }) => isForeign(own, organization_id)) &&
    claim.atConcurrencyLimit.every((organization) => isForeign(own, organization))
})

/** Returns whether these completions free slots that only the claims of another worker fill. */
export const freesForeignSlots = (
  { claimsEverywhere }: FetcherState,
  completions: ReadonlyArray<Completion>,
  own: OwnPartitions
): boolean => !claimsEverywhere && completions.some(({ organization_id }) => isForeign(own, organization_id))

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

/** Returns what the worker does after a statement with this limit has claimed as many. */
export const nextIteration = (
  state: FetcherState,
  { backlog, claimed, limit }: { readonly limit: number; readonly claimed: number; readonly backlog: Backlog }
): Iteration => {
  if (limit > 0 && claimed === 0 && state.mayHaveWork) return "backoff"
  return wouldClaim(state, backlog) ? "again" : { sleepUntil: state.promoteAt }
}
