/** The fence of a cell that organizations leave. */
import { assert, layer } from "@effect/vitest"
import { Ids } from "@govoice/core"
import { Effect, Exit, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as moveState from "../../src/cells/moveState.ts"
import * as SqlErrors from "../../src/database/SqlErrors.ts"
import * as SubmitInvoice from "../../src/invoices/SubmitInvoice.ts"
import * as fixtures from "../support/fixtures.ts"
import { layerPostgres } from "../support/TestDatabase.ts"
import * as TestSettings from "../support/TestSettings.ts"

const services = SubmitInvoice.layer.pipe(
  Layer.provideMerge(layerPostgres),
  Layer.provideMerge(TestSettings.layer({ sandboxStepMs: 1 }))
)

const begin = Effect.gen(function* () {
  yield* fixtures.clear
  const sql = yield* SqlClient.SqlClient
  yield* moveState.makeFence(sql)
  // Made again, it is the same.
  yield* moveState.makeFence(sql)
  const moving = yield* fixtures.organization
  const bucket = Ids.bucket(moving)
  yield* sql`
    INSERT INTO cell_moves (bucket, lead, started_at, step, target, contexts, held)
    VALUES (${bucket}, ${bucket}, now(), 'copying', 'b', '{}', '{}')
  `
  return { sql, moving, move: (yield* moveState.read(sql, bucket))! }
})

const isRefused = (exit: Exit.Exit<unknown, unknown>): boolean =>
  Exit.isFailure(exit) &&
  exit.cause.reasons.some(
    (reason) =>
      (reason._tag === "Die" && SqlErrors.isMoved(reason.defect)) ||
      (reason._tag === "Fail" && SqlErrors.isMoved(reason.error))
  )

layer(services, { timeout: "120 seconds" })("the fence", (it) => {
  it.effect("refuses the submissions of a frozen organization, and no other of the batch", () =>
    Effect.gen(function* () {
      const { move, moving, sql } = yield* begin
      const { findEarlier, submit } = yield* SubmitInvoice.SubmitInvoice
      const other = yield* Effect.repeat(fixtures.organization, {
        until: (id) => Ids.bucket(id) !== Ids.bucket(moving)
      })
      const both = (idempotencyKey: string) =>
        Effect.all(
          [moving, other].map((organizationId) =>
            Effect.exit(submit(fixtures.submission({ organizationId, idempotencyKey })))
          ),
          { concurrency: "unbounded" }
        )
      assert.deepStrictEqual((yield* both("copying")).map(Exit.isSuccess), [true, true])
      for (const step of ["frozen", "copied", "flipped", "moved"] as const) {
        yield* moveState.setStep(sql, move, step)
        const [refused, stored] = yield* both(step)
        assert.isTrue(isRefused(refused!), step)
        assert.isTrue(Exit.isSuccess(stored!), step)
      }
      const rows = yield* sql`SELECT 1 FROM invoices WHERE organization_id = ${moving}`
      assert.lengthOf(rows, 1)
      // What is known is answered.
      const known = yield* findEarlier(fixtures.submission({ organizationId: moving, idempotencyKey: "copying" }))
      assert.isTrue(known?.replayed)
    })
  )

  it.effect("keeps the taxpayers of an organization while it is copied", () =>
    Effect.gen(function* () {
      const { move, moving, sql } = yield* begin
      const set = (columns: string, id: string = moving) =>
        Effect.exit(sql`UPDATE organizations SET ${sql.literal(columns)} WHERE id = ${id}`)
      const credential = (context: string) =>
        `credential = '\\x01026b31', credential_kind = 'ksef_token', credential_context = '${context}', credential_state = 'unchecked',
         credential_updated_at = now()`
      assert.isTrue(isRefused(yield* set(credential("5260250274"))))
      yield* sql`DELETE FROM cell_moves`
      assert.isTrue(Exit.isSuccess(yield* set(credential("5260250274"))))
      yield* sql`
        INSERT INTO cell_moves (bucket, lead, started_at, step, target, contexts, held)
        VALUES (${Ids.bucket(moving)}, ${Ids.bucket(moving)}, now(), 'copying', 'b', '{5260250274}', '{}')
      `
      assert.isTrue(isRefused(yield* set(credential("7010000002"))))
      assert.isTrue(isRefused(yield* set(credential("5260250274-12348"))))
      assert.isTrue(Exit.isSuccess(yield* set(credential("5260250274"))))
      assert.isTrue(Exit.isSuccess(yield* set("name = 'Other'")))
      // Nor does one that stays begin with a taxpayer that moves.
      const other = yield* fixtures.organization
      assert.isTrue(isRefused(yield* set(credential("5260250274-12348"), other)))
      assert.isTrue(Exit.isSuccess(yield* set(credential("7010000002"), other)))
      yield* moveState.setStep(sql, move, "flipped")
      assert.isTrue(isRefused(yield* set(credential("5260250274"), other)))
      yield* moveState.setStep(sql, move, "moved")
      assert.isTrue(Exit.isSuccess(yield* set(credential("5260250274"), other)))
    })
  )

  it.effect("lets the move itself delete what has left", () =>
    Effect.gen(function* () {
      const { move, moving, sql } = yield* begin
      const endpoint = yield* fixtures.endpoint(moving)
      yield* moveState.setStep(sql, move, "flipped")
      const change = sql`UPDATE webhook_endpoints SET enabled = false WHERE id = ${endpoint}`
      assert.isTrue(isRefused(yield* Effect.exit(change)))
      yield* sql.withTransaction(Effect.andThen(moveState.passFence(sql), change))
      assert.isTrue(isRefused(yield* Effect.exit(change)))
      assert.deepStrictEqual(yield* moveState.organizationsOf(sql, move.buckets), [moving])
      assert.lengthOf(yield* moveState.unfinished, 1)
      yield* moveState.setStep(sql, move, "moved")
      assert.lengthOf(yield* moveState.unfinished, 0)
    })
  )
})
