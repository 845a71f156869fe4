/** Whether a process can do its work, in one question that any number of probes may ask. */
import { Cause, Effect, Fiber } from "effect"
import type { SqlClient } from "effect/sql"
import type { KeyRing } from "../crypto/KeyRing.ts"
import { HotStatements } from "../database/HotStatements.ts"
import * as Migrations from "../database/Migrations.ts"
import * as OutageLog from "../database/OutageLog.ts"
import * as SqlErrors from "../database/SqlErrors.ts"
import * as NationalSystem from "../invoices/ksef/NationalSystem.ts"
import * as WorkerProgress from "../jobs/WorkerProgress.ts"
import * as Partitions from "../database/Partitions.ts"
import * as KeyCheck from "./KeyCheck.ts"

const schemaMismatch = "The database schema does not match this version of the server."

const findProblem = Effect.gen(function* () {
  const { isCurrent, isReadOnly } = yield* Migrations.status
  if (isReadOnly) return "The database is read-only."
  if (!isCurrent) return schemaMismatch
  const unstorable = yield* Partitions.problem(0)
  if (unstorable !== undefined) return unstorable
  yield* (yield* HotStatements).check
  const ofAnotherEnvironment = yield* NationalSystem.problem
  if (ofAnotherEnvironment !== undefined) return ofAnotherEnvironment
  const problem = yield* OutageLog.problem
  if (problem !== undefined) return problem
  return KeyCheck.describe(yield* KeyCheck.check)
})

// Anybody may ask, so that many requests cost one statement.
const cachedFor = "1 second"

/** Makes the question about what requests need. It returns why the process is not ready, or `undefined`. */
export const make: Effect.Effect<Effect.Effect<string | undefined>, never, KeyRing | SqlClient.SqlClient> = Effect.gen(
  function* () {
    const services = yield* Effect.context<KeyRing | SqlClient.SqlClient>()
    // Detached, because an interruption waits for the statement, and a probe must not.
    return yield* findProblem.pipe(
      Effect.provideContext(services),
      Effect.timeout("2 seconds"),
      Effect.forkDetach,
      Effect.flatMap(Fiber.join),
      Effect.timeout("2 seconds"),
      Effect.catch((error) =>
        Effect.succeed(
          SqlErrors.isPermanent(error)
            ? schemaMismatch
            : Cause.isTimeoutError(error)
              ? "The database gave no answer within 2 seconds: it cannot be reached, or a table is locked."
              : "The database cannot be reached."
        )
      ),
      Effect.cachedWithTTL(cachedFor)
    )
  }
)

const stalledWorker = Effect.map(WorkerProgress.stalled, ([loop]) =>
  loop === undefined
    ? undefined
    : `No claim of ${loop} has succeeded for ${WorkerProgress.stalledAfterMs / 1000} seconds. See the log of this process.`
)

/** Makes the same question, about the workers of the process too. */
export const makeWithWorkers: typeof make = Effect.map(make, (problem) =>
  Effect.flatMap(problem, (message) => (message === undefined ? stalledWorker : Effect.succeed(message)))
)
