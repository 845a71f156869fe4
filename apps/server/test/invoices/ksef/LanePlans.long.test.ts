/** The plans of the statements of lanes with a hundred thousand live invoices. */
import { assert, layer } from "@effect/vitest"
import type { Ids } from "@govoice/core"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as LaneStore from "../../../src/invoices/ksef/LaneStore.ts"
import * as StatusRules from "../../../src/invoices/ksef/StatusRules.ts"
import * as liveTransitions from "../../../src/invoices/ksef/liveTransitions.ts"
import * as WaitReasons from "../../../src/invoices/ksef/WaitReasons.ts"
import * as LaneQueue from "../../../src/invoices/ksef/LaneQueue.ts"
import { type Explained, explain } from "../../support/Explained.ts"
import { database } from "../../support/TestDatabase.ts"

const environmentId = "test"
const lanes = 200
const nipOf = (lane: number) => `5${String(lane).padStart(9, "0")}`
const organizationOf = (lane: number) => `org_${String(lane).padStart(26, "0")}` as Ids.OrganizationId

// The first lane has half of everything. Of ten invoices seven wait, one is sent, one has its receipt due, one is done. A
// session has about a hundred submissions.
const fill = Effect.fnUntraced(function* (rows: number) {
  const sql = yield* SqlClient.SqlClient
  yield* sql.withTransaction(
    Effect.gen(function* () {
      yield* sql`SET LOCAL session_replication_role = replica`
      yield* sql`INSERT INTO accounts (id, created_at, email, password_hash) VALUES ('acct_1', now(), 'a@example.com', 'hash')`
      yield* sql`
        INSERT INTO organizations (id, account_id, created_at, name, credential, credential_kind, credential_context,
                                   credential_environment, credential_state, credential_updated_at)
        SELECT 'org_' || lpad(n::text, 26, '0'), 'acct_1', now(), 'Company', '\\x010000', 'ksef_token',
               '5' || lpad(n::text, 9, '0'), ${environmentId}, 'accepted', now()
        FROM generate_series(1, ${lanes}::int) AS n
      `
      yield* sql`
        INSERT INTO national_lanes (context, due_at)
        SELECT '5' || lpad(n::text, 9, '0'), to_timestamp(n) FROM generate_series(1, ${lanes}::int) AS n
      `
      yield* sql`
        INSERT INTO invoices
          (id, organization_id, created_at, updated_at, due_at, mode, status, metadata, completed_at, official_number)
        SELECT 'inv_' || lpad(n::text, 26, '0'),
               'org_' || lpad((CASE WHEN n / 10 % 2 = 0 THEN 1 ELSE n / 20 % ${lanes}::int + 1 END)::text, 26, '0'), now(), now(),
               CASE WHEN n % 10 < 8 THEN to_timestamp(n) END, 'live',
               CASE WHEN n % 10 < 7 THEN 'queued' WHEN n % 10 = 7 THEN 'submitted' ELSE 'accepted' END, '{}',
               CASE WHEN n % 10 > 7 THEN now() END, CASE WHEN n % 10 > 7 THEN 'number ' || n END
        FROM generate_series(1, ${rows}::int) AS n
      `
      yield* sql`
        INSERT INTO invoice_documents (invoice_id, organization_id, xml, sha256, form_code, schema_version, issue_date)
        SELECT id, organization_id, repeat('x', 1000), sha256(id::bytea), 'FA (3)', '1-0E', '2026-11-20' FROM invoices
      `
      yield* sql`
        INSERT INTO national_sessions (id, organization_id, context, created_at, kind, state, reference)
        SELECT n, 'org_' || lpad((n % ${lanes}::int + 1)::text, 26, '0'), '5' || lpad((n % ${lanes}::int + 1)::text, 9, '0'), now(),
               'online', CASE WHEN n > ${lanes}::int THEN 'done' ELSE 'open' END, 'session ' || n
        FROM generate_series(1, ${lanes}::int * 100) AS n
      `
      yield* sql`
        INSERT INTO national_submissions
          (session_id, organization_id, invoice_id, context, created_at, due_at, state, reference, sha256)
        SELECT n % (${lanes}::int * 2) + 1, organization_id, id, '5' || right(organization_id, 9), now() - interval '1 minute',
               CASE WHEN n % 10 < 9 THEN to_timestamp(n) END,
               CASE WHEN n % 10 = 7 THEN 'sent' ELSE 'decided' END, 'reference ' || n, sha256(id::bytea)
        FROM (SELECT *, substr(id, 5)::int AS n FROM invoices) AS invoice WHERE n % 10 >= 7
      `
    })
  )
  yield* sql`VACUUM ANALYZE`
})

const large = new Set(["invoices", "invoice_documents", "national_submissions", "national_sessions"])

const services = LaneStore.layerOf(environmentId, 1000).pipe(
  Layer.provideMerge(LaneQueue.layerOf(environmentId)),
  Layer.provideMerge(database.layer)
)
layer(services, { timeout: "300 seconds", excludeTestServices: true })(
  `the plans of lane statements (${database.name})`,
  (it) => {
    it.effect("scan no large table in full, and read few blocks for the rows that they return", () =>
      Effect.gen(function* () {
        yield* fill(100_000)
        const queue = yield* LaneQueue.LaneQueue
        const store = yield* LaneStore.LaneStore
        const report: Array<string> = []
        const limits: Array<readonly [string, number, number]> = []
        /**
         * Runs an effect, whose statements may read so many blocks, and returns its result. A table that is read by a bitmap
         * of an index is expected by its name.
         */
        const plan = <A, E, R>(name: string, most: number, effect: Effect.Effect<A, E, R>, bitmap = "") =>
          Effect.map(explain(effect), ({ explained, result }) => {
            explained.forEach(({ allBlocks: blocks, indexes, milliseconds, scanned }: Explained) => {
              report.push(`${name}: ${blocks} blocks, ${milliseconds.toFixed(1)} ms, ${indexes.join(" ")}`)
              limits.push([name, blocks, most])
              assert.deepStrictEqual(
                scanned.filter((table) => large.has(table) && table !== bitmap),
                [],
                `${name} scans:\n${report.join("\n")}`
              )
            })
            return result
          })

        const nips = Array.from({ length: 20 }, (_, index) => nipOf(index + 2))
        const claimed = yield* plan(
          "claim",
          2000,
          queue.claim({ limit: 10, limitOfOthers: 10, leaseMs: 30_000, leased: nips })
        )
        const [lane] = claimed.lanes
        assert.strictEqual(lane?.context, nipOf(1))
        assert.isAbove(claimed.withInvoices.length, 10)
        yield* plan("renew", 200, queue.renew(claimed.lanes, 30_000))
        yield* plan("rescue", 10_000, queue.rescue)
        assert.lengthOf(yield* plan("organizations", 50, store.organizations(lane!.context)), 1)
        const waiting = yield* plan("waiting", 30_000, store.waiting(organizationOf(1), 2000))
        assert.lengthOf(waiting, 2000)
        yield* plan("waiting of few", 1000, store.waiting(organizationOf(1), 10))
        yield* plan("nextWaitingAt", 100, store.nextWaitingAt(lane!.context, [organizationOf(1)]))
        const found = waiting.slice(0, 100).map(({ id }) => id)
        yield* plan("explain", 1000, store.explain(found, " KSeF reports MAINTENANCE."))
        yield* plan("find", 50, store.find(waiting[0]!.id))
        const session = yield* plan("beginSession", 100, store.beginSession(lane!, organizationOf(1), "online"))
        const ids = waiting.slice(0, 100).map(({ id }) => id)
        assert.lengthOf(yield* plan("beginBatch", 100 * 100, store.beginBatch(lane!, session, ids)), 100)
        assert.lengthOf(yield* plan("documents", 1000, store.documents(ids)), 100)
        const alone = store.beginSubmission(lane!, session, waiting[100]!.id, new Date())
        assert.strictEqual((yield* plan("beginSubmission", 200, alone))?.xml.length, 1000)
        assert.isAbove((yield* plan("unfinishedSessions", 50, store.unfinishedSessions(lane!.context))).length, 0)
        const verdicts = yield* plan("dueVerdicts", 20_000, store.dueVerdicts(lane!.context, 1000))
        assert.lengthOf(verdicts.rows, 1000)
        const receipts = yield* plan("dueReceipts", 2000, store.dueReceipts(lane!.context, 100))
        assert.lengthOf(receipts.rows, 100)
        const members = store.members(verdicts.rows[0]!.session_id)
        assert.isAbove((yield* plan("members", 5000, members, "national_submissions")).length, 10)
        assert.lengthOf(yield* plan("submissionsOf", 50, store.submissionsOf(verdicts.rows[0]!.id)), 1)
        const [copy] = verdicts.rows
        assert.isFalse(yield* plan("hasOpenCopy", 50, store.hasOpenCopy(copy!)))
        assert.isTrue(yield* plan("hasOpenCopy of another", 50, store.hasOpenCopy({ ...copy!, id: ids[0]! })))
        yield* plan("invoiceOfNumber", 50, store.invoiceOfNumber("number 99999"))
        yield* plan("markUnreadable", 100, store.markUnreadable(lane!, session, new Date()))
        yield* plan("lookAtSends", 20_000, store.lookAtSends(lane!), "national_submissions")
        const now = Date.now()
        const accepted = verdicts.rows.slice(0, 100).map((row) => StatusRules.accepted(row, `accepted ${row.id}`, now))
        const sessions = [{ id: session, state: "open", reference: "reference", dueAt: null }] as const
        const ofVerdicts = { ...StatusRules.merge(accepted), sessions }
        yield* plan("write of verdicts", 100 * 100, store.write(lane!, ofVerdicts))
        const submissions = receipts.rows.map((row) => ({ id: row.submission_id, dueAt: null }))
        const transitions = receipts.rows.map((row) => liveTransitions.receipt(row, Buffer.alloc(5000, "x"), now))
        yield* plan("write of receipts", 100 * 100, store.write(lane!, { submissions, transitions }))

        const reasons = yield* WaitReasons.make(environmentId)
        const troubles = Array.from({ length: lanes / 2 }, (_, index) => ({
          context: nipOf(index * 2 + 1),
          fencingToken: index === 0 ? lane!.fencingToken : 0,
          reasons: {
            send: {
              code: "gateway_blocked",
              message: "KSeF blocks the requests of this taxpayer.",
              until: new Date(now + 60_000).toISOString()
            }
          }
        }))
        yield* plan("store of reasons", 2000, reasons.store(troubles))
        assert.isAbove((yield* plan("lastHeld", 500, reasons.lastHeld(troubles))).size, lanes / 4)
        const records = troubles.map(({ context }) => ({ context, code: "gateway_blocked", since: now, failures: 1 }))
        assert.strictEqual((yield* plan("count", 20_000, reasons.count(records), "invoices")).size, records.length)
        yield* plan("release", 500, queue.release(lane!, { nextAt: Infinity, idle: [organizationOf(1)] }, Date.now()))
        if (process.env["PLAN_REPORT"] === "1") console.log(report.join("\n"))
        for (const [name, blocks, most] of limits) assert.isAtMost(blocks, most, `${name}\n${report.join("\n")}`)
      })
    )
  }
)
