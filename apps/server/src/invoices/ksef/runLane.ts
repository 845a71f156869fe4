/**
 * Runs one leased lane: four steps beside each other. Each makes one call of the API at a time; receipts are fetched by their links,
 * several at once.
 *
 * It ends when nothing is due within a few seconds and no interactive session is open.
 */
import { Clock, Deferred, Duration, Effect, Latch } from "effect"
import type { SqlError } from "effect/sql"
import type { LaneLost, Release } from "./LaneQueue.ts"
import * as BatchSessions from "./BatchSessions.ts"
import * as CredentialChecker from "./CredentialChecker.ts"
import { type LaneContext, readOrganizations, type StepName } from "./LaneContext.ts"
import type { LoginError } from "./Logins.ts"
import * as ReceiptFetcher from "./ReceiptFetcher.ts"
import * as InvoiceSender from "./InvoiceSender.ts"
import * as InteractiveSessions from "./InteractiveSessions.ts"
import * as StatusPoller from "./StatusPoller.ts"

/** How soon something has to be due for the lane to be kept. */
const keepMs = 5000

interface Signal {
  readonly latch: Latch.Latch
  at: number
}

const makeSignal = (): Signal => ({ latch: Latch.makeUnsafe(false), at: Infinity })

/** Wakes the steps of a lane. */
export class StepSignals {
  readonly #signals: Readonly<Record<StepName, Signal>> = {
    send: makeSignal(),
    verdicts: makeSignal(),
    receipts: makeSignal(),
    credentials: makeSignal()
  }

  /** Schedules a step: no later than the given time, or immediately. */
  wake(step: StepName, at = 0): void {
    const signal = this.#signals[step]
    if (at >= signal.at) return
    signal.at = at
    signal.latch.openUnsafe()
  }

  /** Forgets the time for which a step was woken, because it begins. */
  begin(step: StepName): void {
    this.#signals[step].at = Infinity
  }

  /** The earliest time for which a step was woken. */
  nextAt(): number {
    return Math.min(...Object.values(this.#signals).map(({ at }) => at))
  }

  /** Waits until a time, or until the time that the step is woken for. */
  wait(step: StepName, until: number): Effect.Effect<void> {
    const signal = this.#signals[step]
    return Effect.gen(function* () {
      while (true) {
        signal.latch.closeUnsafe()
        const waitMs = Math.min(until, signal.at) - (yield* Clock.currentTimeMillis)
        if (waitMs <= 0) return
        yield* Effect.timeoutOption(signal.latch.await, Duration.millis(waitMs))
      }
    })
  }
}

interface StepResult {
  /** When the step has something to do next, in milliseconds. */
  readonly at: number
  /** Of the steps that send and that check credentials: the organizations of theirs of which nothing waits to be sent. */
  readonly idle?: ReadonlyArray<string>
}

/** A step that has nothing to do looks again after this. */
const longestSleepMs = 60_000

/** Runs the lane until it has nothing to do for a while. The result has the time at which it is due again. */
export const runLane = (
  context: LaneContext,
  signals: StepSignals
): Effect.Effect<Release, LaneLost | SqlError.SqlError | LoginError> =>
  Effect.gen(function* () {
    const sessions = InteractiveSessions.make(context)
    const steps: Readonly<Record<StepName, Effect.Effect<StepResult, LoginError>>> = {
      send: InvoiceSender.make(context, sessions),
      verdicts: StatusPoller.make(context, BatchSessions.poll(context)),
      receipts: ReceiptFetcher.make(context),
      credentials: CredentialChecker.make(context)
    }
    const results = new Map<StepName, StepResult>()
    const finished = yield* Deferred.make<Release>()

    const finishIfIdle = Effect.flatMap(Clock.currentTimeMillis, (now) => {
      if (results.size < Object.keys(steps).length || sessions.count() > 0) return Effect.void
      const nextAt = Math.min(signals.nextAt(), ...Array.from(results.values(), ({ at }) => at))
      if (nextAt <= now + keepMs) return Effect.void
      return Deferred.succeed(finished, {
        nextAt,
        idle: [...results.values()].flatMap(({ idle = [] }) => idle),
        credentials: [...context.organizations.values()]
      })
    })

    const loop = (name: StepName) =>
      Effect.gen(function* () {
        results.delete(name)
        signals.begin(name)
        const result = yield* steps[name]
        results.set(name, result)
        const now = yield* Clock.currentTimeMillis
        if (result.at <= now) return yield* Effect.yieldNow
        yield* finishIfIdle
        yield* signals.wait(name, Math.min(result.at, now + longestSleepMs))
      }).pipe(Effect.forever)

    yield* readOrganizations(context)
    yield* recoverLane(context)
    const loops = Effect.all([loop("send"), loop("verdicts"), loop("receipts"), loop("credentials")], {
      concurrency: "unbounded",
      discard: true
    })
    return yield* Effect.raceFirst(Deferred.await(finished), Effect.andThen(loops, Effect.never)).pipe(
      Effect.onInterrupt(() => Effect.ignore(Effect.timeoutOption(sessions.closeAll, "3 seconds")))
    )
  })

/**
 * Takes a lane over from its earlier holder, whose session keys are gone: ends its sessions, and has sends looked up whose outcome is
 * not known.
 */
const recoverLane = Effect.fnUntraced(function* (context: LaneContext) {
  const { lane, store } = context
  for (const { due_at: dueAt, id, kind, reference, state } of yield* store.unfinishedSessions(lane.context)) {
    const now = yield* Clock.currentTimeMillis
    if (reference === null) {
      // The opening may have been answered. An empty session, and a batch that is not closed, end by themselves.
      if (kind === "batch") yield* BatchSessions.abandon(context, id, BatchSessions.notClosed)
      else yield* store.write(lane, { sessions: [{ id, state: "abandoned", dueAt: null }] })
    } else if (kind === "online") {
      // The verdict step closes it: this holder does not have its key.
      if (dueAt === null) yield* store.write(lane, { sessions: [{ id, dueAt: new Date(now) }] })
    } else {
      if (state === "closed") yield* BatchSessions.markSent(context, id)
      // The verdict step reads the session, and goes on from where it is.
      yield* store.write(lane, { sessions: [{ id, dueAt: new Date(now) }] })
    }
  }
  yield* store.lookAtSends(lane)
})
