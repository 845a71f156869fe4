/** Every live invoice that waits has a reason, whatever KSeF does: the faults of the simulator, each for as long as it may take. */
import { assert } from "@effect/vitest"
import type { Fault, Simulator } from "@govoice/ksef-simulator"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { StatementTime } from "../../src/database/StatementTime.ts"
import { shownFailure } from "../../src/invoices/ksef/waitReason.sql.ts"
import * as live from "./live.ts"
import * as simulated from "./simulated.ts"

/** A fault, and the codes that invoices may show while it lasts. None where it has none wait. */
export interface FaultCase {
  readonly fault: Fault
  readonly codes: ReadonlyArray<string>
}

const unavailable = ["gateway_unavailable"]
const always = { times: "always" } as const
const of = (fault: Fault, ...codes: ReadonlyArray<string>): FaultCase => ({ fault, codes })

/** The faults by their names: a new one does not compile without its cases. */
export const faultCases: Readonly<Record<Fault["do"], ReadonlyArray<FaultCase>>> = {
  "429": [
    of({ do: "429", on: "sendInvoice", retryAfter: 600, ...always }, "gateway_limit"),
    of({ do: "429", on: "*", retryAfter: 600, ...always }, "gateway_limit")
  ],
  "5xx": [
    of({ do: "5xx", on: "*", ...always }, ...unavailable),
    of({ do: "5xx", on: "refreshToken", ...always }),
    of({ do: "5xx", on: "openOnlineSession", retryAfter: 600, ...always }, ...unavailable),
    of({ do: "5xx", on: "sendInvoice", ...always }, ...unavailable),
    of({ do: "5xx", on: "listInvoices", ...always }, ...unavailable),
    of({ do: "5xx", on: "getInvoice", ...always }, ...unavailable)
  ],
  html: [
    of({ do: "html", on: "*", ...always }, ...unavailable),
    of({ do: "html", on: "sendInvoice", status: 403, ...always }, "gateway_blocked"),
    of({ do: "html", on: "createChallenge", status: 403, ...always }, "gateway_blocked")
  ],
  "system-warning": [of({ do: "system-warning", message: "Soon.", on: "*", ...always })],
  delay: [of({ do: "delay", ms: 1, on: "*", ...always })],
  // A call ends by a deadline in real time, which simulated time passes over: the documents are not on their way.
  stall: [of({ do: "stall", on: "openOnlineSession", ...always }, "gateway_limit", ...unavailable)],
  "drop-before": [of({ do: "drop-before", on: "*", ...always }, ...unavailable)],
  "drop-after": [of({ do: "drop-after", on: "openOnlineSession", ...always }, ...unavailable)],
  exception: [
    of({ do: "exception", code: 21180, on: "sendInvoice", ...always }, "gateway_limit", ...unavailable),
    of({ do: "exception", code: 21173, on: "listInvoices", ...always }, "gateway_session_unreadable")
  ],
  "21184": [of({ do: "21184", ...always }, ...unavailable)],
  "stuck-150": [of({ do: "stuck-150" })],
  verdict: [
    of({ do: "verdict", code: 550, ...always }, "national_system_error"),
    of({ do: "verdict", code: 299, ...always }, "unknown_verdict"),
    of({ do: "verdict", on: "login", code: 550, ...always }, ...unavailable),
    of({ do: "verdict", on: "login", code: 415, ...always }, "gateway_credential_refused")
  ],
  "440": [of({ do: "440", original: "other-hash", extensions: "none", ...always })],
  "415-after-rotation": [of({ do: "415-after-rotation", ...always }, "gateway_limit", ...unavailable)],
  "rotate-keys": [of({ do: "rotate-keys", rotation: "emergency", ...always }, "gateway_limit", ...unavailable)],
  "expire-access": [of({ do: "expire-access", on: "*", ...always }, "gateway_credential_refused", "gateway_limit")],
  "revoke-token": [of({ do: "revoke-token", on: "*", ...always })],
  "block-403": [
    of({ do: "block-403", on: "*", ...always }, "gateway_blocked"),
    of({ do: "block-403", on: "sendInvoice", detail: "Something new", ...always }, "gateway_blocked")
  ],
  "upo-late": [of({ do: "upo-late", ...always })],
  "upo-html": [of({ do: "upo-html", ...always })],
  "session-gone": [of({ do: "session-gone", ...always }, "gateway_limit", ...unavailable)],
  "close-lost": [of({ do: "close-lost", ...always })],
  "token-login-ends": [of({ do: "token-login-ends" }, "gateway_credential_refused")]
}

interface Row {
  readonly status: string
  readonly code: string | null
}

const polls: ReadonlySet<string> = new Set(["listInvoices", "getInvoice"])

/** Since when KSeF has not been asked about submitted invoices with success; `Infinity` where the last time was one. */
const unaskedSince = (ksef: Simulator): number => {
  const calls = ksef.ledger.calls().filter(({ operation }) => operation !== null && polls.has(operation))
  const failedAfter = calls.findLastIndex(({ status }) => status === 200) + 1
  return calls[failedAfter]?.startedAt ?? Infinity
}

/** Asserts that invoices that wait for more than a minute show why, for minutes of a fault. */
export const assertReasons = ({ codes, fault }: FaultCase) =>
  simulated.simulate({ grainMs: 1000 }, (simulation) =>
    live.withDeployment(
      simulation.ksef,
      Effect.gen(function* () {
        const { ksef, now } = simulation
        const sql = yield* SqlClient.SqlClient
        const hasTaxpayer = fault.do !== "token-login-ends" && fault.on !== "login" && fault.on !== "createChallenge"
        if (!hasTaxpayer) ksef.faults.add(fault)
        const organizationId = yield* live.taxpayer(ksef)
        if (hasTaxpayer) {
          const states = sql<{ readonly s: string }>`SELECT credential_state AS s FROM organizations`
          yield* live.poll(states, ([row]) => row?.s === "accepted")
          // One that KSeF decides about for ever, and has been asked about.
          if (fault.on === "*" || polls.has(fault.on ?? "")) {
            ksef.faults.add({ do: "stuck-150" })
            yield* simulated.submitNumbers(organizationId, ksef.nip, 0, 1)
            yield* live.poll(
              Effect.sync(() => ksef.ledger.calls()),
              (calls) => calls.some(({ operation, status }) => operation === "getInvoice" && status === 200)
            )
          }
          ksef.faults.add(fault)
        }
        yield* simulated.submitNumbers(organizationId, ksef.nip, 1, 5)
        // Of a submitted invoice, KSeF is deciding, unless it cannot be asked.
        const statementTime = (yield* StatementTime)(sql)
        const rows = Effect.map(
          statementTime,
          (time) =>
            sql`SELECT status, created_at, ${shownFailure(sql, time)}->>'code' AS code FROM invoices WHERE mode = 'live'`
        )
        const waiting = Effect.gen(function* () {
          const isUnasked = unaskedSince(ksef) < now() - 60_000
          return yield* sql<Row>`
            SELECT status, code FROM (${yield* rows}) AS invoice
            WHERE created_at < ${new Date(now() - 60_000)}
              AND (status IN ('queued', 'submitting', 'retrying') OR ${isUnasked}::boolean AND status = 'submitted')
          `
        })
        const shown = new Set<string>()
        for (let time = 0; time < 3; time++) {
          yield* simulated.passes(simulation, 75_000)
          assert.deepStrictEqual(
            (yield* waiting).filter(({ code }) => code === null),
            [],
            `after ${(time + 1) * 75} s`
          )
          const all = yield* sql<Row>`
            SELECT status, code FROM (${yield* rows}) AS invoice
            WHERE status NOT IN ('accepted', 'rejected', 'failed') AND code IS NOT NULL
          `
          for (const { code } of all) if (code !== null) shown.add(code)
        }
        for (const code of shown) assert.include(codes, code)
        if (codes.length > 0) assert.isNotEmpty([...shown])
      }),
      { rescueMs: 10_000 }
    )
  )
