/**
 * The decisions of a lane: which route, which wait, when to give up. Pure: time is an argument.
 */
import { Backoff } from "@govoice/dispatcher"
import { FormCode } from "@govoice/ksef/protocol"

const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

const pollWaits = [0.1, 1, 2, 3, 5, 8, 13, 20, 30, 60].map((seconds) => seconds * second)

/**
 * The wait before a verdict is polled again, after this many polls. Polling never ends by time alone.
 *
 * The first poll is for invoices that KSeF processes at once. Several that are sent together begin with the second one, so
 * that they cost few lists.
 */
export const pollWait = (checkCount: number, ageMs: number): number =>
  pollWaits[checkCount] ?? (ageMs < hour ? 2 * minute : ageMs < day ? 15 * minute : 6 * hour)

const firstBatchPolls = [100, 200, 300, 500]

/** The same of a batch, whose status costs one call for all of its invoices: it is polled more often in the first second. */
export const batchPollWait = (checkCount: number, ageMs: number): number =>
  firstBatchPolls[checkCount] ?? pollWait(checkCount - firstBatchPolls.length + 1, ageMs)

/** How many polls of invoices that are sent together with this many others are left out. */
export const skippedPolls = (sentTogether: number): number => (sentTogether > maxPolledSingly ? 1 : 0)

/** Up to so many pending invoices of a session are polled one by one, more with the list. */
export const maxPolledSingly = 3

const receiptWaits = [5 * second, 30 * second, 2 * minute, 10 * minute, hour]

/** The wait before a receipt is requested again; `undefined` a week after the verdict. */
export const receiptWait = (receiptCount: number, ageMs: number): number | undefined =>
  ageMs > 7 * day ? undefined : (receiptWaits[receiptCount] ?? 6 * hour)

const resendWaits = [minute, 5 * minute, 30 * minute, 2 * hour, 8 * hour]

/** The wait before a document that was not judged is sent again; `undefined` where it was sent often enough. */
export const resendWait = (resends: number): number | undefined => resendWaits[resends]

/**
 * The wait before an invoice that was not sent is tried again; `undefined` where it has been tried for so long. The
 * schedule is that of retries, then six hours.
 */
export const retryWait = (options: {
  readonly attempt: number
  readonly firstAttemptAgeMs: number
  readonly giveUpMs: number
  readonly random: number
}): number | undefined => {
  if (options.firstAttemptAgeMs >= options.giveUpMs) return undefined
  const wait = Backoff.nextDelay({ attempt: options.attempt, random: () => options.random }) ?? 6 * hour
  // The last attempt is when time is up.
  return Math.max(second, Math.min(wait, options.giveUpMs - options.firstAttemptAgeMs))
}

/** How long an invoice is tried from its first attempt that KSeF has not received, or did not process and cannot be sent again: a week. */
export const giveUpMs = 7 * day

/** The least time over which this many attempts failed, by the waits between them and the last of these. */
export const retriedMs = (attempts: number): number =>
  Array.from(
    { length: attempts },
    (_, index) => Backoff.nextDelay({ attempt: index + 1, random: () => 0 }) ?? 6 * hour
  ).reduce((sum, wait) => sum + wait, 0)

const refusalWaits = [15 * minute, hour]

/** The wait before a refused credential is tried again, after this many refusals. A blocked taxpayer is not tried sooner. */
export const refusalWait = (refusals: number, code?: string): number =>
  code === "context_blocked" ? 6 * hour : (refusalWaits[refusals - 1] ?? 6 * hour)

/** The waits after the first 403 in a row of which nothing says that they are blocks which last. */
export const unknownBlockWaits: ReadonlyArray<number> = [2 * second, 10 * second, 30 * second]

/**
 * The wait after a 403 that blocks a taxpayer, after this many of them in a row: 15 minutes, doubling to 6 hours, and before them
 * the short ones, unless the block is known to last.
 */
export const blockWait = (blocks: number, isLasting: boolean): number => {
  const earlier = isLasting ? 0 : unknownBlockWaits.length
  return unknownBlockWaits[isLasting ? -1 : blocks - 1] ?? Math.min(15 * minute * 2 ** (blocks - 1 - earlier), 6 * hour)
}

/** The wait before the next batch, after this many that could not be uploaded: a minute, doubling to an hour. */
export const failedUploadWait = (failures: number): number => Math.min(minute * 2 ** (failures - 1), hour)

/** The wait after sends in two sessions in a row that KSeF refused because of maintenance. */
export const maintenanceWaitMs = 5 * minute

/** How many sends in a row may end with a demand for another session, before the next one counts as a failed attempt. */
export const maxOtherSessions = 3

const closeWaits = [5 * second, 30 * second, 2 * minute, 10 * minute]

/** The wait before an interactive session is closed again, after this many times in vain. */
export const closeWait = (closes: number): number => closeWaits[closes - 1] ?? hour

/** How long a session lives whose end KSeF did not tell. */
export const sessionLifetimeMs = 12 * hour

/** How long a send with an unknown outcome is looked up. */
export interface LookupTiming {
  /** How long its document may still arrive: the deadline of the call and a minute. */
  readonly mayArriveMs: number
  /** The time between the two lookups that have to find nothing before it counts as absent. */
  readonly intervalMs: number
}

export const lookupTiming: LookupTiming = { mayArriveMs: 80 * second, intervalMs: 30 * second }

/** Bounds of a batch. */
export const batch = { maxDocuments: 2000, maxBytes: 32 * 1024 * 1024, spacingMs: minute } as const

/** When an interactive session is closed: unused for so long, as old as this, or with this many documents. */
export const session = { idleMs: minute, maxAgeMs: 11 * hour, maxDocuments: 9000 } as const

/** Documents of one organization and form that wait to be sent. */
export interface Waiting {
  readonly count: number
  readonly bytes: number
  /** The routes that are open to them: attachments go in a batch only, documents of a batch that was refused go alone. */
  readonly by: "any" | "single" | "batch"
  /** Whether one of them is dated today, in Poland. */
  readonly isDatedToday: boolean
}

/** The calls that the windows allow. */
export interface SendCapacity {
  /** How many documents can be sent one by one within the time of `singlyWithin`, by the windows and by what one takes. */
  readonly single: number
  /** From when on one can be sent. */
  readonly singleAt: number
  /** From when on a batch can be opened. */
  readonly batchAt: number
  /** When the last batch was opened, within the hour; 0 without one. */
  readonly lastBatchAt: number
}

/** The end of the day, shortly before it: what is dated today and sent after it is late. */
export interface Rush {
  readonly midnight: number
  /** How many batches the windows allow to be opened until then. */
  readonly openings: number
  /** Whether they would be used up by batches that are spaced as on the rest of the day. */
  readonly isTight: boolean
}

/** How long before the end of the day its rush begins, and how long before it the last batch is opened. */
const rushMs = { begins: 15 * minute, ends: second }

/**
 * How many of the openings of a lane an organization may use. Those whose credentials KSeF has accepted share them: anybody can
 * store another one.
 */
export const shareOf = (
  openings: number,
  organizations: ReadonlyArray<{ readonly credential_state: "unchecked" | "accepted" | "refused" }>
): number =>
  Math.floor(openings / Math.max(1, organizations.filter(({ credential_state: state }) => state === "accepted").length))

/** How many batches the windows allow in a minute: as many are kept for the last one. */
const openingsOfMinute = 20

/**
 * Returns the rush that a time is in, if it is in one. `openings` returns how many batches may be opened until a time, by all limits,
 * or by those of an hour alone.
 */
export const rushAt = (
  polishTimestamp: string,
  now: number,
  openings: (untilMs: number, options?: { readonly ofHour: boolean }) => number
): Rush | undefined => {
  const [hours, minutes, seconds] = polishTimestamp.slice(11, 23).split(":").map(Number)
  const leftMs = day - Math.round((hours! * 60 + minutes!) * minute + seconds! * second)
  if (leftMs > rushMs.begins) return undefined
  const spare = openings(leftMs, { ofHour: true }) - leftMs / batch.spacingMs
  return { midnight: now + leftMs, openings: openings(leftMs), isTight: spare < openingsOfMinute }
}

/** Within which time documents may wait to go one by one: a minute, and in a rush long enough before midnight. */
export const singlyWithin = (rush: Rush | undefined, now: number): number =>
  rush === undefined ? minute : Math.max(0, Math.min(minute, rush.midnight - now - 3 * second))

/** What a document is expected to take that goes alone, until some have. */
export const firstSendMs = second

/** How many documents go one by one within a time, one after the other, where each takes so long: one at least. */
export const fitting = (withinMs: number, sendMs: number): number =>
  Math.max(1, Math.floor(withinMs / Math.max(1, sendMs)))

/**
 * From when on the next batch of a rush is opened. Each of the openings that are left shortens the rest of the day by the same
 * factor, so that they become more frequent, and the last one is a second before midnight.
 */
const rushBatchAt = ({ isTight, midnight, openings }: Rush, lastBatchAt: number): number => {
  if (openings <= 0) return midnight
  const from = Math.max(lastBatchAt, midnight - rushMs.begins)
  const leftMs = Math.max(midnight - from, rushMs.ends)
  const waitMs = leftMs * (1 - (rushMs.ends / leftMs) ** (1 / openings))
  return Math.min(from + waitMs, isTight ? Infinity : lastBatchAt + batch.spacingMs)
}

/** The next step for the waiting documents. */
export type Route =
  | { readonly _tag: "interactive"; readonly count: number }
  | { readonly _tag: "batch" }
  | { readonly _tag: "wait"; readonly until: number }

/**
 * Chooses the route: one by one where the windows and the speed of KSeF let all that waits go within a minute, else as a batch. A
 * batch that is not full opens a minute after the last one at the earliest. Meanwhile documents go one by one as the windows open.
 *
 * A batch counts as sent when its session was opened. In the rush before midnight, the openings that are left are shared out over
 * the rest of the day, so that what is dated today is sent today, however late it comes.
 */
export const route = (waiting: Waiting, capacity: SendCapacity, rush: Rush | undefined, now: number): Route => {
  const isFull = waiting.count >= batch.maxDocuments || waiting.bytes >= batch.maxBytes
  const isUrgent = rush !== undefined && waiting.isDatedToday
  const spacedAt = isUrgent
    ? rushBatchAt(rush, capacity.lastBatchAt)
    : isFull
      ? 0
      : capacity.lastBatchAt + batch.spacingMs
  const batchAt = Math.max(capacity.batchAt, spacedAt)
  if (waiting.by === "single") {
    const { single, singleAt } = capacity
    return singleAt <= now && single > 0
      ? { _tag: "interactive", count: Math.min(waiting.count, single) }
      : { _tag: "wait", until: singleAt }
  }
  if (waiting.by === "batch") return batchAt <= now ? { _tag: "batch" } : { _tag: "wait", until: batchAt }
  const wantsBatch = waiting.count > capacity.single
  if (wantsBatch && batchAt <= now) return { _tag: "batch" }
  if (capacity.singleAt <= now && capacity.single > 0) {
    // In a rush, the next batch is not to wait for others, and KSeF may have become slower.
    return { _tag: "interactive", count: isUrgent ? 1 : Math.min(waiting.count, capacity.single) }
  }
  return { _tag: "wait", until: wantsBatch ? Math.min(capacity.singleAt, batchAt) : capacity.singleAt }
}

export type FormName = keyof typeof FormCode.formCodes

/** Returns the form of a document, or `undefined` where the national system takes none like it. */
export const formOf = (document: {
  readonly form_code: string | null
  readonly schema_version: string | null
}): FormName | undefined => {
  const name = document.form_code ?? ""
  if (!Object.hasOwn(FormCode.formCodes, name)) return undefined
  const form = FormCode.formCodes[name as FormName]
  return form.schemaVersion === document.schema_version ? (name as FormName) : undefined
}
