import { assert, layer } from "@effect/vitest"
import type { Simulator } from "@govoice/ksef-simulator"
import type { Ids } from "@govoice/core"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import * as CertificateUrl from "../../../src/invoices/CertificateUrl.ts"
import * as LiveStatus from "../../../src/invoices/ksef/LiveStatus.ts"
import * as OfflineCertificates from "../../../src/invoices/ksef/OfflineCertificates.ts"
import { SubmitInvoice } from "../../../src/invoices/SubmitInvoice.ts"
import { Notifier } from "../../../src/jobs/Notifier.ts"
import * as fixtures from "../../support/fixtures.ts"
import * as live from "../../support/live.ts"
import { unitOf } from "../../support/nips.ts"
import * as simulated from "../../support/simulated.ts"
import { liveDatabase as database } from "../../support/TestDatabase.ts"
import * as TestSettings from "../../support/TestSettings.ts"

const foreignOf = (nip: string): string => `${nip}-DE123456789`

const byToken = (ksef: Simulator, context: string) => live.token(ksef.issueToken({ context }))

const byCertificate = (ksef: Simulator, context: string) => {
  const { certificate, privateKey } = ksef.issueCertificate({ nip: ksef.nip, context })
  return { type: "certificate", certificate, privateKey: Redacted.make(privateKey) } as const
}

const organizationIn = Effect.fnUntraced(function* (
  context: string,
  credential: ReturnType<typeof byToken> | ReturnType<typeof byCertificate>
) {
  const organizationId = yield* fixtures.organization
  yield* live.putCredential(organizationId, context, credential)
  return organizationId
})

const storeOfflineCertificate = Effect.fnUntraced(function* (ksef: Simulator, organizationId: Ids.OrganizationId) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly account_id: Ids.AccountId }>`
    SELECT account_id FROM organizations WHERE id = ${organizationId}
  `
  const { certificate, privateKey } = ksef.issueCertificate({ nip: ksef.nip, kind: "offline" })
  const request = { certificate, private_key: privateKey }
  const pair = yield* OfflineCertificates.check(request, { account: "a", network: "" }, Date.now())
  yield* (yield* OfflineCertificates.OfflineCertificates).put(row!.account_id, organizationId, pair)
})

/** Submits an invoice that was issued offline, and returns the link behind its second code. */
const issueOffline = Effect.fnUntraced(function* (organizationId: Ids.OrganizationId, invoiceXml: string) {
  const submission = {
    ...fixtures.submission({ organizationId, invoiceXml, idempotencyKey: "offline", mode: "live" }),
    invoicingMode: "offline" as const
  }
  const certificateUrl = yield* (yield* CertificateUrl.make)(submission)
  yield* (yield* SubmitInvoice).submit({ ...submission, certificateUrl })
  yield* (yield* Notifier).wake("lanes")
  return certificateUrl ?? ""
})

const liveStatus = (ksef: Simulator) =>
  Layer.provide(
    LiveStatus.layer,
    TestSettings.layer({
      liveMode: true,
      ksef: { ...TestSettings.settings().ksef, environmentId: live.systemOf(ksef).environmentId }
    })
  )

const textOf = (url: string) => Effect.promise(async () => (await fetch(url)).text())

const soldAbroad = (number: string, seller: string): string =>
  live.fa3({ number, seller }).replace("<NIP>5260250274</NIP>", "<KodUE>DE</KodUE><NrVatUE>123456789</NrVatUE>")

const soldHere = (number: string, seller: string): string => live.fa3({ number, seller })

const contexts = [
  ["Nip", "token", (nip: string) => nip, byToken, soldHere],
  ["Nip", "certificate", (nip: string) => nip, byCertificate, soldHere],
  ["InternalId", "token", unitOf, byToken, soldHere],
  ["InternalId", "certificate", unitOf, byCertificate, soldHere],
  ["NipVatUe", "certificate", foreignOf, byCertificate, soldAbroad]
] as const

layer(database.layer, { timeout: "120 seconds", excludeTestServices: true })(
  `live invoices in a context (${database.name})`,
  (it) => {
    for (const [type, method, contextOf, credentialOf, documentOf] of contexts) {
      it.effect(`of the type ${type} are sent after a login by ${method}, with codes that name it`, () =>
        Effect.gen(function* () {
          yield* fixtures.clear
          const ksef = yield* live.simulator()
          const context = contextOf(ksef.nip)
          const program = Effect.gen(function* () {
            const organizationId = yield* organizationIn(context, credentialOf(ksef, context))
            yield* storeOfflineCertificate(ksef, organizationId)
            yield* live.submit(organizationId, documentOf("FV/1", ksef.nip), "1")
            const code = yield* issueOffline(organizationId, documentOf("FV/2", ksef.nip))
            assert.include(code, `/certificate/${type}/${context}/${ksef.nip}/`)
            assert.include(yield* textOf(code), "The issuer is confirmed")
            const all = yield* live.eventually(live.allDone, live.invoices)
            assert.deepStrictEqual(
              all.map(({ status, upo_available }) => [status, upo_available]),
              [
                ["accepted", true],
                ["accepted", true]
              ]
            )
          })
          yield* live.withDeployment(ksef, program)
          const used = new Set(ksef.ledger.calls().flatMap(({ context: one }) => one ?? []))
          assert.deepStrictEqual([...used], [context])
        })
      )
    }

    it.effect("are refused where the context may not issue them", () =>
      Effect.gen(function* () {
        yield* fixtures.clear
        const ksef = yield* live.simulator()
        const program = Effect.gen(function* () {
          const unit = unitOf(ksef.nip)
          const ofUnit = yield* organizationIn(unit, byToken(ksef, unit))
          const foreign = foreignOf(ksef.nip)
          const ofForeign = yield* organizationIn(foreign, byCertificate(ksef, foreign))
          yield* live.submit(ofUnit, soldHere("FV/1", "1111111111"), "1")
          yield* live.submit(ofForeign, soldHere("FV/2", ksef.nip), "2")
          const all = yield* live.eventually(live.allDone, live.invoices)
          assert.deepStrictEqual(
            all.map(({ rejection, status }) => [status, rejection?.code]),
            [
              ["rejected", "seller_not_permitted"],
              ["rejected", "seller_not_permitted"]
            ]
          )
        })
        yield* live.withDeployment(ksef, program)
      })
    )

    it.effect("share limits with those of the same context, and with no other context of the taxpayer", () =>
      Effect.gen(function* () {
        yield* fixtures.clear
        const ksef = yield* live.simulator()
        const unit = unitOf(ksef.nip)
        const program = Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          yield* simulated.withoutCalls(ksef.nip, "invoiceSend")
          yield* simulated.withoutCalls(ksef.nip, "batchSession")
          const ofTaxpayer = yield* live.taxpayer(ksef)
          const first = yield* organizationIn(unit, byToken(ksef, unit))
          const second = yield* organizationIn(unit, byToken(ksef, unit))
          yield* live.submit(ofTaxpayer, soldHere("FV/1", ksef.nip), "1")
          yield* live.submit(first, soldHere("FV/2", ksef.nip), "2")
          yield* live.submit(second, soldHere("FV/3", ksef.nip), "3")
          const isOfUnitDone = (all: ReadonlyArray<live.LiveInvoice>) => all.filter(live.isDone).length === 2
          const all = yield* live.eventually(isOfUnitDone, live.invoices)
          assert.sameMembers(
            all.map((invoice) => invoice.status),
            ["queued", "accepted", "accepted"]
          )
          const lanes = sql<{ readonly context: string }>`SELECT context FROM national_lanes ORDER BY context`
          assert.deepStrictEqual(
            (yield* lanes).map(({ context }) => context),
            [ksef.nip, unit]
          )
          const sentOf = (id: Ids.OrganizationId) =>
            Effect.flatMap(LiveStatus.LiveStatus, ({ read }) => read(id)).pipe(
              Effect.map(({ limits }) => limits.find(({ group }) => group === "invoiceSend")?.used ?? 0),
              Effect.provide(liveStatus(ksef))
            )
          const accepted = ["first", "second"].length
          yield* live.poll(sentOf(first), (used) => used === accepted)
          assert.strictEqual(yield* sentOf(second), accepted)
          assert.strictEqual(yield* sentOf(ofTaxpayer), 0)
        })
        yield* live.withDeployment(ksef, program)
      })
    )
  }
)
