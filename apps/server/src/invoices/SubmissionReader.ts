/**
 * Reads submissions: small ones at once on the event loop, others in threads.
 *
 * No body occupies the event loop for long, and each account has a share of its time, in proportion to the rate limit. Beyond that
 * share its submissions are read in the threads, too, where accounts take turns, and the organizations of each.
 */
import { Clock, Context, Data, Effect, Layer } from "effect"
import { availableParallelism } from "node:os"
import * as Slots from "../limits/Slots.ts"
import * as TokenBuckets from "../limits/TokenBuckets.ts"
import * as ThreadPool from "../jobs/ThreadPool.ts"
import { Settings } from "../settings/Settings.ts"
import {
  type ReadSubmission,
  readSubmission,
  type SubmissionContext,
  type SubmissionFault,
  type ValidSubmission
} from "./readSubmission.ts"
import type { SubmissionJob } from "./submissionThread.ts"

/** The body is not a valid submission. */
export class InvalidSubmission extends Data.TaggedError("InvalidSubmission")<{ readonly fault: SubmissionFault }> {}

/** No thread became free in time, or the thread was lost that read this submission. */
export class SubmissionNotRead extends Data.TaggedError("SubmissionNotRead") {}

/** Reads submissions. */
export class SubmissionReader extends Context.Service<
  SubmissionReader,
  {
    /**
     * Reads a body and takes ownership of it: it may move to a thread.
     */
    readonly read: (
      owner: Slots.Owner,
      body: Uint8Array<ArrayBuffer>,
      context: SubmissionContext
    ) => Effect.Effect<ValidSubmission, InvalidSubmission | SubmissionNotRead>
  }
>()("@govoice/server/invoices/SubmissionReader") {}

// The most expensive body of this size takes 6 ms.
const maxBytesOnEventLoop = 64 * 1024

// The time on the event loop that each request of an account brings with it. An invoice of the usual size takes a tenth of it.
const microsecondsPerRequest = 500

// Beside a thread, the event loop and Postgres need processors, too.
const threads = availableParallelism() >= 4 ? 2 : 1

// The bodies that wait for a thread. Those that are not small hold memory that `ByteBudget` admitted.
const maxWaitingBytes = 64 * 1024 * 1024

const entry = new URL(`./submissionThread.${import.meta.url.endsWith(".ts") ? "ts" : "js"}`, import.meta.url)

const toEffect = (read: ReadSubmission): Effect.Effect<ValidSubmission, InvalidSubmission> =>
  read._tag === "Valid" ? Effect.succeed(read.submission) : Effect.fail(new InvalidSubmission({ fault: read.fault }))

// Only a buffer of its own can be transferred.
const owned = (body: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> =>
  body.byteLength === body.buffer.byteLength ? body : new Uint8Array(body)

/** Provides `SubmissionReader`. */
export const layer: Layer.Layer<SubmissionReader, never, Settings> = Layer.effect(
  SubmissionReader,
  Effect.gen(function* () {
    const { burst, perSecond } = (yield* Settings).rateLimit
    const pool = yield* ThreadPool.make<SubmissionJob, ReadSubmission>({
      name: "submissions",
      entry,
      threads,
      maxSize: maxWaitingBytes,
      maxSizePerGroup: maxWaitingBytes / 4,
      // Some 0.2 µs a byte: however many organizations send long documents, a shorter one of another goes before them.
      costOfSize: 0.0002,
      maxWaitMs: Slots.turnMs,
      timeoutMs: 10_000
    })
    const shares = TokenBuckets.makeBuckets()
    // Returns the rest of the share, in microseconds.
    const takeShare = (accountId: string, microseconds: number, now: number): number =>
      shares.take(
        {
          key: accountId,
          tokens: microseconds,
          limit: burst * microsecondsPerRequest,
          refillMs: 1000 / (perSecond * microsecondsPerRequest),
          allowOverflow: true
        },
        now
      )[0]

    const readHere = ({ accountId }: Slots.Owner, body: Uint8Array, context: SubmissionContext, now: number) => {
      const startedAt = performance.now()
      const read = readSubmission(body, context)
      takeShare(accountId, Math.ceil((performance.now() - startedAt) * 1000), now)
      return toEffect(read)
    }

    const readInThread = (owner: Slots.Owner, body: Uint8Array<ArrayBuffer>, context: SubmissionContext) => {
      const transferred = owned(body)
      const { byteLength } = transferred
      return pool.run(owner, { body: transferred, context }, [transferred.buffer], byteLength).pipe(
        Effect.mapError(() => new SubmissionNotRead()),
        Effect.flatMap(toEffect)
      )
    }

    return {
      read: (owner, body, context) =>
        Effect.flatMap(Clock.currentTimeMillis, (now) =>
          body.byteLength <= maxBytesOnEventLoop && takeShare(owner.accountId, 0, now) > 0
            ? readHere(owner, body, context, now)
            : readInThread(owner, body, context)
        )
    }
  })
)
