/** Locks the data directory of its argument, says so, and holds the lock until it is killed. */
import { Effect } from "effect"
import * as DataDirLock from "../../../src/database/DataDirLock.ts"

await Effect.runPromise(
  Effect.scoped(
    Effect.gen(function* () {
      yield* DataDirLock.acquire(process.argv[2]!)
      console.log("locked")
      yield* Effect.never
    })
  )
)
