/**
 * The statements of a submission read a few blocks, however many invoices, corrections of one invoice, and idempotency keys the
 * organization has: each holds a connection that all tenants share.
 */
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as SubmitInvoice from "../../src/invoices/SubmitInvoice.ts"
import * as TechnicalCorrection from "../../src/invoices/TechnicalCorrection.ts"
import { explain } from "../support/Explained.ts"
import * as fixtures from "../support/fixtures.ts"
import * as TestDatabase from "../support/TestDatabase.ts"
import * as TestSettings from "../support/TestSettings.ts"

const many = 50_000
const maxBlocks = 300
const idOf = (n: number) => `inv_0${String(n).padStart(25, "0")}`

/** All invoices but the first correct it, and were rejected as it was. */
const store = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* fixtures.clear
  const organizationId = yield* fixtures.organization
  yield* fixtures.endpoint(organizationId)
  yield* sql.withTransaction(
    Effect.gen(function* () {
      yield* sql`SET LOCAL session_replication_role = replica`
      yield* sql`
        INSERT INTO invoices
          (id, organization_id, created_at, updated_at, completed_at, mode, status, scenario, rejection, metadata, invoicing_mode,
           certificate_url, send_by, corrects)
        SELECT 'inv_0' || lpad(n::text, 25, '0'), ${organizationId}, to_timestamp(n), to_timestamp(n), now(), 'test', 'rejected',
               'rejected', '{"code":"invalid_document"}', '{}', 'offline', 'https://example.com', '2026-11-20',
               CASE WHEN n > 1 THEN ${idOf(1)} END
        FROM generate_series(1, ${many}::int) AS n
      `
      yield* sql`
        INSERT INTO idempotency_records (organization_id, mode, key, created_at, request_hash, invoice_id, body)
        SELECT organization_id, mode, 'key ' || id, now(), sha256(id::bytea), id, '{}' FROM invoices
      `
    })
  )
  yield* sql`VACUUM ANALYZE invoices`
  yield* sql`VACUUM ANALYZE idempotency_records`
  return organizationId
})

const services = SubmitInvoice.layer.pipe(
  Layer.provide(TestSettings.layer()),
  Layer.provideMerge(TestDatabase.layerPostgres)
)

layer(services, { excludeTestServices: true })("the statements of a submission", (it) => {
  it.effect("read a few blocks of an organization with many invoices", () =>
    Effect.gen(function* () {
      const organizationId = yield* store
      const check = yield* TechnicalCorrection.makeCheck
      const { submit } = yield* SubmitInvoice.SubmitInvoice
      // One that is stored alone: the statement of a batch runs in a fiber of its own, which nothing here explains.
      const invoiceXml = `<a>${"x".repeat(150_000)}</a>`
      const submission = fixtures.submission({ organizationId, idempotencyKey: "another", invoiceXml })
      const correction = { ...submission, correctsInvoiceId: idOf(1) }
      const assertCheap = Effect.fnUntraced(function* <A, E, R>(name: string, effect: Effect.Effect<A, E, R>) {
        const { explained } = yield* explain(effect)
        assert.isNotEmpty(explained, name)
        for (const { allBlocks, indexes, text } of explained) {
          assert.isBelow(allBlocks, maxBlocks, `${name}: ${indexes.join(" ")}: ${text.slice(0, 200)}`)
        }
      })
      yield* assertCheap("the check of a technical correction", check(correction))
      yield* assertCheap("a submission", submit(submission))
    })
  )
})
