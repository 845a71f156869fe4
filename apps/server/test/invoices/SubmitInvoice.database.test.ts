/** Batched submissions: the response to each, and what is stored. */
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Exit, Layer } from "effect"
import { SqlClient, Statement } from "effect/sql"
import * as TestSettings from "../support/TestSettings.ts"
import * as IdGenerator from "../../src/crypto/IdGenerator.ts"
import * as Invoices from "../../src/invoices/Invoices.ts"
import * as SubmitInvoice from "../../src/invoices/SubmitInvoice.ts"
import * as fixtures from "../support/fixtures.ts"
import { database } from "../support/TestDatabase.ts"

const settings = TestSettings.layer()

const invoices = Layer.provide(Layer.merge(Invoices.layer, SubmitInvoice.layer), settings)
layer(Layer.provideMerge(invoices, database.layer), { timeout: "120 seconds" })(
  `SubmitInvoice (${database.name})`,
  (it) => {
    it.effect("stores each of many concurrent submissions exactly, with its own event, deliveries and response", () =>
      Effect.gen(function* () {
        const { find } = yield* Invoices.Invoices
        const { submit } = yield* SubmitInvoice.SubmitInvoice
        const sql = yield* SqlClient.SqlClient
        const organizations = yield* Effect.replicateEffect(fixtures.organization, 5)
        const endpoints = yield* Effect.forEach(organizations, (id) => fixtures.endpoint(id))
        const submissions = Array.from({ length: 200 }, (_, index) => ({
          organizationId: organizations[index % 5]!,
          mode: "test" as const,
          idempotencyKey: `key ${Math.floor(index / 10)}`,
          invoiceXml: `<a n="${index}">\\ "quoted", {braced}, NULL, ż 😀</a>`,
          metadata: { index: String(index), ["__proto__"]: 'a "b" \\' },
          scenario: index % 2 === 0 ? ("accepted" as const) : ("rejected" as const)
        }))
        const exits = yield* Effect.forEach(
          submissions,
          (submission) => Effect.exit(submit(fixtures.submission(submission))),
          {
            concurrency: "unbounded"
          }
        )
        const won = exits.flatMap((exit, index) =>
          Exit.isSuccess(exit) ? [{ ...exit.value, ...submissions[index]! }] : []
        )
        // Twenty keys at five organizations, each submitted twice with different documents.
        assert.lengthOf(won, 100)
        assert.lengthOf(new Set(won.map(({ idempotencyKey, organizationId }) => idempotencyKey + organizationId)), 100)

        for (const { body, invoiceId, invoiceXml, metadata, organizationId, replayed, scenario } of won) {
          assert.isFalse(replayed)
          const invoice = yield* find({ organizationId, mode: "test" }, invoiceId)
          assert.deepStrictEqual(invoice, JSON.parse(body))
          assert.deepInclude(invoice, { scenario, metadata })
          const rows = yield* sql<{ readonly xml: string; readonly organization_id: string; readonly body: string }>`
            SELECT xml, events.organization_id, events.body
            FROM invoice_documents JOIN events USING (invoice_id) WHERE invoice_id = ${invoiceId}
          `
          assert.lengthOf(rows, 1)
          assert.deepInclude(rows[0], { xml: invoiceXml, organization_id: organizationId })
          assert.deepStrictEqual((JSON.parse(rows[0]!.body) as { readonly data: unknown }).data, { invoice })
        }
        const planned = yield* sql<{ readonly endpoint_id: string; readonly count: number }>`
          SELECT endpoint_id, count(*)::int AS count FROM deliveries GROUP BY endpoint_id
        `
        assert.sameDeepMembers(
          planned.map(({ count, endpoint_id }) => [endpoint_id, count]),
          endpoints.map((id) => [id, 20])
        )
      })
    )

    it.effect("stores one of a batch of submissions with the same key, and replays it to the others", () =>
      Effect.gen(function* () {
        const statements: Array<string> = []
        const count: Statement.Transformer = (statement) =>
          Effect.sync(() => {
            statements.push(statement.compile()[0])
            return statement
          })
        const built = yield* Layer.build(Layer.fresh(Layer.provide(SubmitInvoice.layer, settings))).pipe(
          Effect.provideService(Statement.CurrentTransformer, count)
        )
        const { submit } = Context.get(built, SubmitInvoice.SubmitInvoice)
        const sql = yield* SqlClient.SqlClient
        const organizationId = yield* fixtures.organization
        yield* fixtures.endpoint(organizationId)
        const submission = fixtures.submission({ organizationId, idempotencyKey: "the same" })
        const answers = yield* Effect.all(
          Array.from({ length: 64 }, () => submit(submission)),
          { concurrency: "unbounded" }
        )
        assert.lengthOf(
          answers.filter(({ replayed }) => !replayed),
          1
        )
        assert.lengthOf(new Set(answers.map(({ body, invoiceId }) => invoiceId + body)), 1)
        const [stored] = yield* sql`
            SELECT (SELECT count(*)::int FROM invoices WHERE organization_id = ${organizationId}) AS invoices,
                   (SELECT count(*)::int FROM events WHERE organization_id = ${organizationId}) AS events,
                   (SELECT count(*)::int FROM deliveries WHERE organization_id = ${organizationId}) AS deliveries
          `
        assert.deepStrictEqual(stored, { invoices: 1, events: 1, deliveries: 1 })
        const writes = statements.filter((text) => text.includes("INSERT INTO idempotency_records"))
        const reads = statements.filter((text) => text.includes("FROM idempotency_records"))
        assert.isAtMost(writes.length, 4)
        assert.isAtMost(reads.length, 4)
        assert.isAbove(reads.length, 0)
      })
    )

    it.effect("stores empty, long and odd texts of a batch exactly", () =>
      Effect.gen(function* () {
        const { submit } = yield* SubmitInvoice.SubmitInvoice
        const sql = yield* SqlClient.SqlClient
        const organizationId = yield* fixtures.organization
        const texts = [
          "",
          " ",
          "NULL",
          "{}",
          '{"a",NULL}',
          "\\",
          "\"'",
          "\u0001\t\n\r\u007f\u0085",
          "\ufeff\u2028\uffff",
          "ż😀",
          "x".repeat(99_000)
        ]
        const answers = yield* Effect.forEach(
          texts,
          (text, index) =>
            submit({
              ...fixtures.submission({ organizationId, idempotencyKey: `odd ${index} ${text.slice(0, 20)}` }),
              invoiceXml: text,
              metadata: { text, nul: "\0", half: "\ud800" }
            }),
          { concurrency: "unbounded" }
        )
        for (const [index, { body, invoiceId }] of answers.entries()) {
          const [stored] = yield* sql`
              SELECT xml, key, record.body, invoices.metadata::text AS metadata
              FROM invoices JOIN invoice_documents AS document ON document.invoice_id = invoices.id
              JOIN idempotency_records AS record ON record.invoice_id = invoices.id WHERE invoices.id = ${invoiceId}
            `
          const text = texts[index]!
          const metadata = JSON.stringify({ text, nul: "\0", half: "\ud800" })
          assert.deepStrictEqual(stored, { xml: text, key: `odd ${index} ${text.slice(0, 20)}`, body, metadata })
        }
      })
    )

    it.effect("inserts the same keys in different orders from several processes without a deadlock", () =>
      Effect.gen(function* () {
        const processes = yield* Effect.replicateEffect(Layer.build(Layer.fresh(invoices)), 4)
        const organizationId = yield* fixtures.organization
        for (let round = 0; round < 20; round++) {
          const keys = Array.from({ length: 60 }, (_, index) => index)
          const answers = yield* Effect.forEach(
            processes.flatMap((context, process) =>
              (process % 2 === 0 ? keys : keys.toReversed()).map((key) => ({ context, key }))
            ),
            ({ context, key }) =>
              Context.get(context, SubmitInvoice.SubmitInvoice).submit(
                fixtures.submission({ organizationId, idempotencyKey: `round ${round} key ${key}` })
              ),
            { concurrency: "unbounded" }
          )
          assert.lengthOf(
            answers.filter(({ replayed }) => !replayed),
            60
          )
          assert.lengthOf(new Set(answers.map(({ invoiceId }) => invoiceId)), 60)
        }
      })
    )

    it.effect("stores the other submissions of a batch when the database refuses one", () =>
      Effect.gen(function* () {
        const { submit } = yield* SubmitInvoice.SubmitInvoice
        const organizationId = yield* fixtures.organization
        const nobody = IdGenerator.at("org", 0)
        const exits = yield* Effect.forEach(
          Array.from({ length: 60 }, (_, index) => index),
          (index) =>
            Effect.exit(
              submit(
                fixtures.submission({
                  organizationId: index === 30 ? nobody : organizationId,
                  idempotencyKey: `together ${index}`
                })
              )
            ),
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(
          exits.flatMap((exit, index) => (Exit.isSuccess(exit) ? [] : [index])),
          [30]
        )
      })
    )
  }
)
