/** Lookups of invoices that share a statement: each is answered for its own organization and mode alone. */
import { assert, layer } from "@effect/vitest"
import type { Ids } from "@govoice/core"
import { Effect, Layer, Result } from "effect"
import { SqlClient, Statement } from "effect/sql"
import * as IdGenerator from "../../src/crypto/IdGenerator.ts"
import * as Invoices from "../../src/invoices/Invoices.ts"
import * as SubmitInvoice from "../../src/invoices/SubmitInvoice.ts"
import * as TestSettings from "../support/TestSettings.ts"
import { explain } from "../support/Explained.ts"
import * as fixtures from "../support/fixtures.ts"
import { database } from "../support/TestDatabase.ts"

const settings = TestSettings.layer()

// `Batcher` takes the transformer when it is built.
let statements = 0
const counted = Layer.provide(
  Invoices.layer,
  Layer.succeed(Statement.CurrentTransformer)((statement) => {
    statements++
    return Effect.succeed(statement)
  })
)

const submitTo = (organizationId: Ids.OrganizationId, number: number) =>
  Effect.flatMap(SubmitInvoice.SubmitInvoice, ({ submit }) =>
    submit(
      fixtures.submission({ organizationId, idempotencyKey: `key ${number}`, metadata: { number: String(number) } })
    )
  )

const invoices = Layer.provide(Layer.merge(counted, SubmitInvoice.layer), settings)
layer(Layer.provideMerge(invoices, database.layer), { timeout: "120 seconds" })(
  `Invoices.find (${database.name})`,
  (it) => {
    it.effect("shares statements among concurrent lookups, and finds for each only what is in its scope", () =>
      Effect.gen(function* () {
        const { find } = yield* Invoices.Invoices
        const organizations = yield* Effect.replicateEffect(fixtures.organization, 3)
        const stored = yield* Effect.forEach(
          Array.from({ length: 60 }, (_, number) => number),
          (number) => {
            const owner = organizations[number % 3]!
            return Effect.map(submitTo(owner, number), ({ body, invoiceId }) => ({ body, invoiceId, owner }))
          },
          { concurrency: "unbounded" }
        )
        // Everyone looks for everything, in both modes and in any.
        const wanted = stored.flatMap(({ body, invoiceId, owner }) =>
          organizations.flatMap((organizationId) =>
            (["test", "live", undefined] as const).map((mode) => ({
              invoiceId,
              scope: mode === undefined ? { organizationId } : { organizationId, mode },
              expected: organizationId === owner && mode !== "live" ? (JSON.parse(body) as unknown) : undefined
            }))
          )
        )
        const before = statements
        const found = yield* Effect.forEach(wanted, ({ invoiceId, scope }) => Effect.result(find(scope, invoiceId)), {
          concurrency: "unbounded"
        })
        for (const [index, result] of found.entries()) {
          const { expected } = wanted[index]!
          assert.deepStrictEqual(Result.isSuccess(result) ? result.success : undefined, expected)
        }
        assert.lengthOf(found.filter(Result.isSuccess), 2 * stored.length)
        assert.isAtMost(statements - before, wanted.length / 10)
      })
    )

    it.effect("reads the record again for a repeated lookup", () =>
      Effect.gen(function* () {
        const { find } = yield* Invoices.Invoices
        const sql = yield* SqlClient.SqlClient
        const organizationId = yield* fixtures.organization
        const { invoiceId } = yield* submitTo(organizationId, 0)
        assert.strictEqual((yield* find({ organizationId }, invoiceId)).attempt_count, 0)
        yield* sql`UPDATE invoices SET attempt_count = 3 WHERE id = ${invoiceId}`
        const both = yield* Effect.replicateEffect(find({ organizationId }, invoiceId), 2, { concurrency: 2 })
        for (const { attempt_count: count } of both) assert.strictEqual(count, 3)
      })
    )

    it.effect("reads one entry of one index, also with many invoices", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const organizationId = yield* fixtures.organization
        const { invoiceId } = yield* submitTo(organizationId, 1)
        yield* sql.withTransaction(
          Effect.forEach(
            [
              sql`SET LOCAL session_replication_role = replica`,
              sql`
                  INSERT INTO invoices
                    (id, organization_id, created_at, updated_at, due_at, mode, status, scenario, metadata)
                  SELECT 'inv_0' || lpad(n::text, 25, '0'), ${organizationId}, now(), now(), now(), 'test', 'queued',
                         'accepted', '{}'
                  FROM generate_series(1, 20000) AS n
                `
            ],
            (statement) => statement,
            { discard: true }
          )
        )
        yield* sql`ANALYZE invoices`
        const looked = Effect.scoped(
          Effect.gen(function* () {
            const { find } = yield* Layer.build(Layer.fresh(Invoices.layer)).pipe(
              Effect.flatMap((context) => Effect.provideContext(Invoices.Invoices, context))
            )
            return yield* find({ organizationId, mode: "test" }, invoiceId)
          })
        )
        const { explained, result } = yield* explain(looked)
        assert.strictEqual(result.id, invoiceId)
        assert.lengthOf(explained, 1)
        assert.notInclude(explained[0]!.scanned, "invoices")
        assert.lengthOf(explained[0]!.readIndexes, 1)
        assert.include(["invoices_pkey", "invoices_organization_id_id_idx"], explained[0]!.readIndexes[0])
        assert.isBelow(explained[0]!.blocks, 10)
      })
    )

    it.effect("finds nothing for an unknown identifier", () =>
      Effect.gen(function* () {
        const { find } = yield* Invoices.Invoices
        const organizationId = yield* fixtures.organization
        for (const id of [IdGenerator.at("inv", Date.now()), "inv_", "\u0000"]) {
          assert.strictEqual((yield* Effect.flip(find({ organizationId }, id)))._tag, "InvoiceNotFound")
        }
      })
    )
  }
)
