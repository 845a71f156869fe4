/**
 * A worker that dies before each of its statements in turn, from the check of a credential to the receipts. What it has committed is
 * enough for the next one: each document is accepted exactly once, soon, and each event is there once.
 *
 * `DEATHS` sets how many statements there are from one death to the next; 1 takes them all, as a single document always does.
 */
import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, References } from "effect"
import { SqlClient, Statement } from "effect/sql"
import * as live from "../../support/live.ts"
import * as simulated from "../../support/simulated.ts"
import { layerPostgres } from "../../support/TestDatabase.ts"

const minute = 60_000
const sampled = Number(process.env["DEATHS"] ?? 40)

/** More than may be sent one by one within a minute. */
const batchSize = 40

/** A life of so many statements: neither the next one is carried out nor any later one, and calls are not made any more. */
const makeLife = Effect.fnUntraced(function* (statements: number) {
  const kill = { isDead: false }
  const dead = yield* Deferred.make<void>()
  const buried = yield* Deferred.make<void>()
  const carriedOut: Array<string> = []
  const transformer = ((statement: Statement.Statement<unknown>) =>
    Effect.suspend(() => {
      kill.isDead ||= carriedOut.length === statements
      if (!kill.isDead) {
        carriedOut.push(statement.compile()[0])
        return Effect.succeed(statement)
      }
      // Statements of finalizers cannot be interrupted.
      const never = Effect.andThen(Deferred.await(buried), Effect.interrupt)
      return Effect.andThen(Deferred.succeed(dead, undefined), never)
    })) as Statement.Transformer

  /** Runs until the program ends or the life does. */
  const live = <A, E, R>(program: Effect.Effect<A, E, R>) =>
    Effect.gen(function* () {
      const living = yield* program.pipe(
        Effect.provideService(Statement.CurrentTransformer, transformer),
        Effect.provideService(References.MinimumLogLevel, "None"),
        Effect.forkChild
      )
      yield* Effect.raceFirst(Deferred.await(dead), Effect.asVoid(Fiber.await(living)))
      if (!kill.isDead) return yield* Effect.asVoid(Fiber.join(living))
      const burial = Deferred.succeed(buried, undefined)
      yield* Effect.all([Fiber.interrupt(living), burial], { concurrency: "unbounded" })
    })
  return { kill, live, last: () => `after ${carriedOut.length} statements, of which the last is ${carriedOut.at(-1)}` }
})

const unseen = Effect.provideService(Statement.CurrentTransformer, undefined)

layer(layerPostgres, { timeout: "30 minutes", excludeTestServices: true })(
  "a worker that dies before one of its statements",
  (it) => {
    it.effect.each([
      { what: "one document", documents: 1, status: "accepted", events: 4, interval: 1 },
      { what: "one that KSeF rejects", documents: 1, status: "rejected", events: 3, interval: sampled },
      { what: "a batch", documents: batchSize, status: "accepted", events: 4, interval: sampled }
    ])(
      "leaves what the next one needs for $what",
      ({ documents, events, interval, status }) =>
        Effect.gen(function* () {
          for (let statements = 0; ; statements += interval) {
            const isDead = yield* simulated.simulate({ grainMs: 1000 }, ({ ksef, now }) =>
              Effect.gen(function* () {
                const sql = yield* SqlClient.SqlClient
                if (status === "rejected") ksef.faults.add({ do: "verdict", code: 450 })
                const submitted = Effect.flatMap(live.taxpayer(ksef), (id) =>
                  simulated.submitNumbers(id, ksef.nip, 1, documents)
                )
                yield* live.withDeployment(ksef, submitted, { hasWorker: false })
                const { kill, last, live: liveOn } = yield* makeLife(statements)
                yield* liveOn(live.withDeployment(ksef, unseen(live.finished()), { kill, rescueMs: 10_000 }))
                const diedAt = now()
                const invoices = yield* live
                  .withDeployment(ksef, live.finished(), { rescueMs: 10_000 })
                  .pipe(Effect.catchDefect((defect) => Effect.die(new Error(`${String(defect)} ${last()}`))))
                assert.isBelow(now() - diedAt, 10 * minute, last())
                assert.deepStrictEqual([...new Set(invoices.map(({ status }) => status))], [status], last())
                assert.lengthOf(ksef.ledger.accepted(), status === "accepted" ? documents : 0, last())
                assert.lengthOf(yield* sql`SELECT 1 FROM events`, events * documents, last())
                assert.strictEqual(ksef.ledger.overLimit, 0, last())
                return kill.isDead
              })
            )
            if (!isDead) return
          }
        }),
      600_000
    )
  }
)
