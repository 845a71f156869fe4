/**
 * The state of a worker's scan over the endpoints, as pure functions.
 *
 * Claims serve endpoints in turn: each begins behind the endpoint of the claim before, and wraps around at the end. A round
 * is the statements of one claim, until one of them has claimed something or all endpoints were visited.
 *
 * Completed deliveries leave entries at the front of the index until vacuum. A resume cursor has the due time of the oldest
 * delivery that an endpoint had left, so that the next claim begins behind those entries. Endpoints in the partitions of other
 * workers have one, too, because the scan passes them.
 */
import { partitionOf } from "../jobs/WorkerGroup.ts"

/**
 * An endpoint that had more available deliveries than were claimed, or whose organization is of another partition, and the due
 * time of the oldest of them.
 */
export type ResumeCursor = readonly [organization: string, endpoint: string, since: string]

/** Before the first endpoint. */
export const start = ""

/** Behind the last endpoint. */
export const end = "~"

// The cursors are sorted and sent with every claim.
const maxResumeCursors = 1000

/** The state between two statements. */
export interface EndpointScan {
  /** The endpoint behind which the next statement begins. */
  readonly after: string
  readonly resumeCursors: ReadonlyArray<ResumeCursor>
  /** The endpoint behind which the round began. */
  readonly roundStart: string
  /** Whether the round has begun anew at the first endpoint, or began there. */
  readonly wrapped: boolean
}

/** The range of endpoints that a statement scanned. */
export interface ScannedPage {
  /** Whether it reached the last endpoint. */
  readonly ended: boolean
  readonly last: string | null
  readonly resumeCursors: ReadonlyArray<ResumeCursor>
}

/** The state after a statement. */
export interface Advanced {
  readonly scan: EndpointScan
  /** Whether every endpoint was visited in this round. */
  readonly visitedAll: boolean
  /** Whether the statement reached the last endpoint in a round that has begun at the first. */
  readonly reachedEnd: boolean
}

/** The state of a worker that has not claimed yet. */
export const initial: EndpointScan = { after: start, resumeCursors: [], roundStart: start, wrapped: true }

const bounded = (
  resumeCursors: ReadonlyArray<ResumeCursor>,
  partitions: ReadonlyArray<string> | undefined
): ReadonlyArray<ResumeCursor> => {
  if (resumeCursors.length <= maxResumeCursors) return resumeCursors
  const own = resumeCursors.filter(([organization]) => partitions?.includes(partitionOf(organization)))
  return own.length <= maxResumeCursors ? own : []
}

/**
 * Begins a round. Without `resume`, it reads each endpoint from its oldest delivery. Of too many cursors, it keeps those of the
 * partitions that the claim is for.
 */
export const beginRound = (
  { after, resumeCursors }: EndpointScan,
  resume: boolean,
  partitions?: ReadonlyArray<string>
): EndpointScan => ({
  after,
  resumeCursors: resume ? bounded(resumeCursors, partitions) : [],
  roundStart: after,
  wrapped: after === start
})

/**
 * Returns the resume cursors of the next statement.
 *
 * Without them, a drained delivery costs 1.15 times the processor time (median of three rounds: 0.205 ms against 0.178 ms of
 * the workers and Postgres), and the more the longer vacuum takes.
 */
export const resumeCursorsAhead = ({ after, resumeCursors }: EndpointScan): ReadonlyArray<ResumeCursor> =>
  resumeCursors.filter(([, endpoint]) => endpoint > after)

/**
 * Returns the state after a statement. Its cursors replace those it has passed. Of too many, it keeps those of the partitions
 * that the claim is for, since the next statement of the round sends them.
 */
export const advance = (scan: EndpointScan, page: ScannedPage, partitions?: ReadonlyArray<string>): Advanced => {
  const { after, roundStart, wrapped } = scan
  const { ended } = page
  const next = ended ? start : (page.last ?? start)
  const kept = scan.resumeCursors.filter(([, endpoint]) => endpoint <= after || (!ended && endpoint > next))
  return {
    scan: {
      after: next,
      resumeCursors: bounded([...kept, ...page.resumeCursors], partitions).toSorted(([, left], [, right]) =>
        left < right ? -1 : 1
      ),
      roundStart,
      wrapped: wrapped || ended
    },
    visitedAll: wrapped && (ended || (roundStart !== start && next >= roundStart)),
    reachedEnd: ended && wrapped
  }
}
