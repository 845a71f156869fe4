import { assert, layer } from "@effect/vitest"
import { KsefClient } from "@govoice/ksef/client"
import { CertificateLink } from "@govoice/ksef/crypto"
import { WorkingDays } from "@govoice/ksef/format"
import type { Simulator } from "@govoice/ksef-simulator"
import type { Ids } from "@govoice/core"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { createHash } from "node:crypto"
import * as CertificateUrl from "../../../src/invoices/CertificateUrl.ts"
import * as AnnouncedFailures from "../../../src/invoices/ksef/AnnouncedFailures.ts"
import * as LaneOverview from "../../../src/invoices/ksef/LaneOverview.ts"
import * as OfflineCertificates from "../../../src/invoices/ksef/OfflineCertificates.ts"
import { SubmitInvoice } from "../../../src/invoices/SubmitInvoice.ts"
import * as TechnicalCorrection from "../../../src/invoices/TechnicalCorrection.ts"
import { Notifier } from "../../../src/jobs/Notifier.ts"
import * as fixtures from "../../support/fixtures.ts"
import * as live from "../../support/live.ts"
import { liveDatabase as database } from "../../support/TestDatabase.ts"

const storeCertificate = Effect.fnUntraced(function* (running: Simulator, organizationId: Ids.OrganizationId) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly account_id: Ids.AccountId }>`
    SELECT account_id FROM organizations WHERE id = ${organizationId}
  `
  const { certificate, privateKey } = running.issueCertificate({ nip: running.nip, kind: "offline" })
  const pair = yield* OfflineCertificates.check(
    { certificate, private_key: privateKey },
    { account: "a", network: "" },
    Date.now()
  )
  yield* (yield* OfflineCertificates.OfflineCertificates).put(row!.account_id, organizationId, pair)
  return pair
})

/** Submits an invoice as the API does. */
const issue = Effect.fnUntraced(function* (
  organizationId: Ids.OrganizationId,
  invoiceXml: string,
  invoicingMode: "online" | "offline",
  correctsInvoiceId?: string
) {
  const { submit } = yield* SubmitInvoice
  const submission = {
    ...fixtures.submission({
      organizationId,
      invoiceXml,
      idempotencyKey: createHash("sha256").update(invoiceXml).digest("hex"),
      mode: "live"
    }),
    invoicingMode,
    ...(correctsInvoiceId === undefined ? {} : { correctsInvoiceId })
  }
  const certificateUrl = yield* (yield* CertificateUrl.make)(submission)
  const { body, invoiceId } = yield* submit({ ...submission, certificateUrl })
  yield* (yield* Notifier).wake("lanes")
  return { id: invoiceId, body }
})

// The same document under another key.
const issueAgain = Effect.fnUntraced(function* (organizationId: Ids.OrganizationId, invoiceXml: string) {
  const submission = {
    ...fixtures.submission({ organizationId, invoiceXml, idempotencyKey: "again", mode: "live" }),
    invoicingMode: "offline" as const
  }
  const certificateUrl = yield* (yield* CertificateUrl.make)(submission)
  const { invoiceId } = yield* (yield* SubmitInvoice).submit({ ...submission, certificateUrl })
  yield* (yield* Notifier).wake("lanes")
  return invoiceId
})

const modes = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql<{ readonly id: string; readonly invoicing_mode: string; readonly official_mode: string | null }>`
    SELECT id, invoicing_mode, official_mode FROM invoices ORDER BY id
  `
)

const textOf = (url: string) => Effect.promise(async () => (await fetch(url)).text())

layer(database.layer, { timeout: "120 seconds", excludeTestServices: true })(
  `live invoices that are issued offline (${database.name})`,
  (it) => {
    it.effect("are sent as such one by one, beside others, with codes that lead to the pages of the simulator", () =>
      Effect.gen(function* () {
        yield* fixtures.clear
        const ksef = yield* live.simulator()
        const program = Effect.gen(function* () {
          const organizationId = yield* live.taxpayer(ksef)
          const pair = yield* storeCertificate(ksef, organizationId)
          const online = yield* issue(organizationId, live.fa3({ number: "FV/1", seller: ksef.nip }), "online")
          const offline = yield* issue(organizationId, live.fa3({ number: "FV/2", seller: ksef.nip }), "offline")
          const { verification } = JSON.parse(offline.body) as {
            readonly verification: { readonly url: string; readonly certificate_url: string }
          }
          assert.include(yield* textOf(`${verification.url}x`), "The invoice is not in KSeF")
          yield* live.eventually(live.allDone, live.invoices)
          assert.deepStrictEqual(yield* modes, [
            { id: online.id, invoicing_mode: "online", official_mode: "online" },
            { id: offline.id, invoicing_mode: "offline", official_mode: "offline" }
          ])
          assert.include(yield* textOf(verification.url), "The invoice is in KSeF")
          assert.isTrue(CertificateLink.verify(verification.certificate_url, pair.certificate.publicKey))
          assert.include(yield* textOf(verification.certificate_url), "The issuer is confirmed")
          const forged = verification.certificate_url.replace(`/${ksef.nip}/`, "/1111111111/")
          assert.include(yield* textOf(forged), "The signature is not one of this certificate.")
        })
        yield* live.withDeployment(ksef, program)
      })
    )

    it.effect("may be sent for seven working days after a failure that KSeF announced", () =>
      Effect.gen(function* () {
        yield* fixtures.clear
        const ksef = yield* live.simulator()
        const program = Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const organization = yield* live.taxpayer(ksef)
          yield* storeCertificate(ksef, organization)
          const number = (index: number) => live.fa3({ number: `FV/${index}`, seller: ksef.nip })
          const concerned = yield* issue(organization, number(1), "offline")
          const late = yield* issue(organization, number(2), "offline")
          const online = yield* issue(organization, number(3), "online")
          const today = new Intl.DateTimeFormat("en-CA", { timeZone: "Europe/Warsaw" }).format()
          yield* sql`UPDATE invoices SET send_by = ${today} WHERE id = ${concerned.id}`
          yield* sql`UPDATE invoices SET send_by = '2026-02-02' WHERE id = ${late.id}`
          const client = yield* KsefClient.make({
            environment: live.systemOf(ksef).environment,
            userAgent: "tests"
          })
          const read = AnnouncedFailures.round(client)
          const days = () =>
            Effect.map(
              sql<{ readonly id: string; readonly send_by: string | null }>`SELECT id, send_by FROM invoices`,
              (rows) => new Map(rows.map(({ id, send_by }) => [id, send_by]))
            )
          ksef.setBeacon("FAILURE")
          yield* read
          assert.strictEqual((yield* days()).get(concerned.id), today)
          ksef.setBeacon("AVAILABLE")
          // More than one statement moves.
          const copies = 1200
          yield* sql`
              INSERT INTO invoices
              SELECT (jsonb_populate_record(invoices, jsonb_build_object('id', 'inv_' || lpad(n::text, 26, '0')))).*
              FROM invoices, generate_series(1, ${copies}::int) AS n WHERE id = ${concerned.id}
            `
          const [failure] = AnnouncedFailures.ended(yield* client.beaconMessages, Date.now())
          yield* read
          const removed = yield* sql`
              DELETE FROM invoices WHERE id < 'inv_01' AND send_by = ${WorkingDays.afterFailure(today)} RETURNING 1
            `
          assert.strictEqual(removed.length, copies)
          assert.deepStrictEqual(
            yield* days(),
            new Map([
              [concerned.id, WorkingDays.afterFailure(today)],
              [late.id, "2026-02-02"],
              [online.id, null]
            ])
          )
          // It has moved, and an invoice that is issued after the failure keeps its day.
          assert.strictEqual(yield* AnnouncedFailures.extend(sql, failure!), 0)
          const after = yield* issue(organization, number(4), "offline")
          yield* sql`UPDATE invoices SET send_by = ${today} WHERE id = ${after.id}`
          assert.strictEqual(yield* AnnouncedFailures.extend(sql, failure!), 0)
        })
        yield* live.withDeployment(ksef, program, { hasWorker: false })
      })
    )

    it.effect("are sent in batches of their own", () =>
      Effect.gen(function* () {
        yield* fixtures.clear
        const ksef = yield* live.simulator()
        yield* live.withDeployment(
          ksef,
          Effect.gen(function* () {
            const organization = yield* live.taxpayer(ksef)
            yield* storeCertificate(ksef, organization)
            for (let index = 0; index < 40; index++) {
              const invoicingMode = index % 8 === 4 ? "online" : "offline"
              yield* issue(organization, live.fa3({ number: `FV/${index}`, seller: ksef.nip }), invoicingMode)
            }
          }),
          { hasWorker: false }
        )
        yield* live.withDeployment(ksef, live.eventually(live.allDone, live.invoices))
        const all = yield* modes
        assert.lengthOf(all, 40)
        for (const { invoicing_mode, official_mode } of all) assert.strictEqual(official_mode, invoicing_mode)
        const opened = ksef.ledger.calls().filter(({ operation }) => operation === "openBatchSession")
        assert.isAtLeast(opened.length, 1)
      })
    )

    it.effect("are corrected technically one by one, and the first code leads to the correction", () =>
      Effect.gen(function* () {
        yield* fixtures.clear
        const ksef = yield* live.simulator()
        const program = Effect.gen(function* () {
          const organizationId = yield* live.taxpayer(ksef)
          yield* storeCertificate(ksef, organizationId)
          // The simulator refuses a document that is dated after today.
          const wrong = live.fa3({ number: "FV/1", seller: ksef.nip }).replace(/<P_1>[^<]*/, "<P_1>2049-01-04")
          const rejected = yield* issue(organizationId, wrong, "offline")
          yield* live.eventually(live.allDone, live.invoices)
          const { verification } = JSON.parse(rejected.body) as { readonly verification: { readonly url: string } }

          const right = live.fa3({ number: "FV/1", seller: ksef.nip })
          const correction = yield* issue(organizationId, right, "offline", rejected.id)
          assert.strictEqual((JSON.parse(correction.body) as { readonly corrects: string }).corrects, rejected.id)
          const all = yield* live.eventually((some) => some.length === 2 && live.allDone(some), live.invoices)
          const accepted = all.find(({ status }) => status === "accepted")
          const page = yield* textOf(verification.url)
          assert.include(page, "The invoice was corrected technically")
          assert.include(page, accepted?.official_number ?? "none")

          const check = yield* TechnicalCorrection.makeCheck
          const again = fixtures.submission({
            organizationId,
            invoiceXml: right,
            idempotencyKey: "again",
            mode: "live"
          })
          const { message } = yield* Effect.flip(check({ ...again, correctsInvoiceId: rejected.id }))
          assert.match(message, new RegExp(`has an accepted correction already: ${correction.id}`))
        })
        yield* live.withDeployment(ksef, program)
      })
    )

    it.effect("are rejected if KSeF refuses the technical correction, and nothing else waits for that", () =>
      Effect.gen(function* () {
        yield* fixtures.clear
        const ksef = yield* live.simulator()
        const xmlOf = (number: string) => live.fa3({ number, seller: ksef.nip })
        const program = Effect.gen(function* () {
          const organizationId = yield* live.taxpayer(ksef)
          yield* storeCertificate(ksef, organizationId)
          const wrong = xmlOf("FV/1").replace(/<P_1>[^<]*/, "<P_1>2049-01-04")
          const rejected = yield* issue(organizationId, wrong, "offline")
          yield* live.eventually(live.allDone, live.invoices)
          // Both are checked before KSeF has one of them.
          yield* issue(organizationId, xmlOf("FV/1"), "offline", rejected.id)
          yield* live.eventually((all) => all.length === 2 && live.allDone(all), live.invoices)
          const late = yield* Effect.forEach([1, 2, 3], (index) =>
            issue(organizationId, xmlOf(`FV/1-${index}`), "offline", rejected.id)
          )
          // The original was accepted.
          const copy = yield* issueAgain(organizationId, xmlOf("FV/1"))
          yield* live.eventually((all) => all.length === 6 && live.allDone(all), live.invoices)
          const ofAccepted = yield* issue(organizationId, xmlOf("FV/2"), "offline", copy)
          yield* issue(organizationId, xmlOf("FV/3"), "offline")
          const all = yield* live.eventually((some) => some.length === 8 && live.allDone(some), live.invoices)
          const endOf = (id: string) => all.find((one) => one.id === id)!
          for (const { id } of late) {
            assert.deepInclude(endOf(id), { status: "rejected", failure: null })
            assert.strictEqual(endOf(id).rejection?.code, "correction_refused")
            assert.include(endOf(id).rejection?.message, "Faktura posiada już przetworzoną prawidłowo korektę")
          }
          assert.strictEqual(endOf(ofAccepted.id).status, "rejected")
          assert.include(endOf(ofAccepted.id).rejection?.message, "do prawidłowo przetworzonej faktury")
          assert.strictEqual(all.at(-1)?.status, "accepted")
        })
        yield* live.withDeployment(ksef, program)
      })
    )

    it.effect("are counted when their last day has passed and they were not sent", () =>
      Effect.gen(function* () {
        yield* fixtures.clear
        const ksef = yield* live.simulator()
        const program = Effect.gen(function* () {
          const organizationId = yield* live.taxpayer(ksef)
          yield* storeCertificate(ksef, organizationId)
          yield* issue(organizationId, live.fa3({ number: "FV/1", seller: ksef.nip }), "offline")
          assert.strictEqual((yield* LaneOverview.readGauges).offline_overdue, 0)
          const sql = yield* SqlClient.SqlClient
          yield* sql`UPDATE invoices SET send_by = '2026-01-02'`
          assert.strictEqual((yield* LaneOverview.readGauges).offline_overdue, 1)
          yield* sql`UPDATE invoices SET status = 'submitted', submitted_at = now()`
          assert.strictEqual((yield* LaneOverview.readGauges).offline_overdue, 0)
        })
        yield* live.withDeployment(ksef, program, { hasWorker: false })
      })
    )
  }
)
