/** Faults of KSeF that every invoice survives: it is accepted once. */
import { assert } from "@effect/vitest"
import type { Fault, Simulator } from "@govoice/ksef-simulator"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { LookupTiming } from "../../src/invoices/ksef/LaneContext.ts"
import * as fixtures from "./fixtures.ts"
import * as live from "./live.ts"

const lookupTiming = { mayArriveMs: 1000, intervalMs: 300 }

export const submitMany = (ksef: Simulator, count: number) =>
  Effect.gen(function* () {
    const organizationId = yield* live.taxpayer(ksef)
    for (let index = 1; index <= count; index++) {
      yield* live.submit(organizationId, live.fa3({ number: `FV/${index}`, seller: ksef.nip }), `key-${index}`)
    }
    return organizationId
  })

/** Every invoice that was accepted is there once, and no call came over a limit. */
export const assertExactlyOnce = (ksef: Simulator, all: ReadonlyArray<live.LiveInvoice>) => {
  const accepted = ksef.ledger.accepted()
  assert.sameMembers(
    all.filter(({ status }) => status === "accepted").map(({ official_number }) => official_number),
    accepted.map(({ ksefNumber }) => ksefNumber)
  )
  assert.lengthOf(new Set(accepted.map(({ sha256 }) => sha256)), accepted.length)
  assert.strictEqual(ksef.ledger.overLimit, 0)
}

/** One fault of each kind. */
export const representative: ReadonlyArray<Fault> = [
  { do: "drop-after", on: "sendInvoice" },
  { do: "21184" },
  { do: "session-gone" },
  { do: "rotate-keys", rotation: "emergency" },
  { do: "expire-access", on: "sendInvoice" },
  { do: "stuck-150", polls: 2 },
  { do: "429", on: "sendInvoice", retryAfter: 1 }
]

/** The others. */
export const others: ReadonlyArray<Fault> = [
  { do: "drop-before", on: "sendInvoice" },
  { do: "5xx", on: "sendInvoice" },
  { do: "html", on: "sendInvoice" },
  { do: "drop-after", on: "openOnlineSession" },
  { do: "5xx", on: "openOnlineSession" },
  { do: "expire-access", on: "getInvoice" },
  { do: "drop-after", on: "redeemTokens" },
  { do: "drop-before", on: "createChallenge" },
  { do: "drop-after", on: "getInvoice", times: 2 },
  { do: "upo-late" },
  { do: "drop-after", on: "getInvoiceUpo" },
  { do: "close-lost" }
]

export const nameOf = ({ do: name, on }: Fault): string => `${name}${on === undefined ? "" : ` of ${on}`}`

/** Submits two invoices while this fault lasts. Both are accepted once. */
export const assertSurvived = (fault: Fault) =>
  Effect.gen(function* () {
    yield* fixtures.clear
    const ksef = yield* live.simulator({ faults: [fault] })
    const program = Effect.gen(function* () {
      yield* submitMany(ksef, 2)
      return yield* live.eventually(live.allDone, live.invoices)
    })
    const all = yield* live.withDeployment(ksef, program)
    assert.deepStrictEqual(
      all.map(({ status }) => status),
      ["accepted", "accepted"]
    )
    assertExactlyOnce(ksef, all)
    const sql = yield* SqlClient.SqlClient
    assert.deepStrictEqual(yield* sql`SELECT 1 FROM national_submissions WHERE state = 'sending'`, [])
  }).pipe(Effect.provideService(LookupTiming, lookupTiming))
