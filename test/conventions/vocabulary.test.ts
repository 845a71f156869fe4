/**
 * Rejects retired words in the code: identifiers, SQL, metrics, settings and log messages use the terms of the glossary in
 * CONTRIBUTING.md.
 */
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { assert, describe, it } from "vitest"

const root = resolve(import.meta.dirname, "../..")

/** Retired words, with the standard term. Words match as a whole, with their case. */
const retired: Readonly<Record<string, string>> = {
  patiently: "retrying",
  patienceMs: "retryForMs",
  Patience: "QueryTimeout",
  patience: "timeout",
  beginYoung: "disablePretenuring",
  unended: "unterminated",
  unspaced: "missingPiSpace",
  elapse: "promoteDue",
  Elapsed: "Promoted",
  Poller: "WorkerLoop",
  restUntil: "sleepUntil",
  Wakeups: "Notifier",
  wakeHere: "wakeLocal",
  nudge: "recheck",
  Milestone: "EventOutbox",
  milestone: "event",
  InvoiceMoves: "InvoiceTransitions",
  EnginePool: "WorkerDbClient",
  NewId: "IdGenerator",
  toRecord: "toApi",
  layerHourly: "layerScheduled",
  unsaid: "suppressed",
  hungry: "mayHaveWork",
  heldBack: "atConcurrencyLimit",
  paceMs: "batchWindowMs",
  setApart: "completeInBackground",
  writeApart: "completeWithRetry",
  unwritten: "uncommitted",
  freesOthers: "unblocksOrganization",
  openIfDone: "signalIfIdle",
  Settlement: "Completion",
  settlement: "completion",
  leased_until: "lease_expires_at",
  look_at: "next_lease_check_at",
  taken_over: "reclaimed",
  endpoint_usable: "endpoint_enabled",
  ready_since: "available_at",
  unprepared: "invalid_request",
  place_on_disk: "row_ctid",
  cutShort: "limit_hit",
  passedOver: "skipped_locked",
  emittedOnArrival: "createdEvent",
  hasMet: "reachedDatabase",
  partRepeated: "rejectRepeatedHeader",
  ofApiKey: "authenticateApiKey",
  ofAccount: "ownedBy",
  crowded: "overLimit",
  inWords: "formatCount",
  forgetApiKey: "invalidateApiKey",
  LoginGuard: "LoginThrottle",
  NoGateway: "GatewayNotConfigured",
  beganOf: "processStartTime",
  forgottenAfterMs: "staleLockMs",
  copiesWithinMs: "duplicateSignalWindowMs",
  triedOn: "testedVersion",
  quietly: "ignoreErrors",
  Plant: "fixtures",
  Faces: "PromiseAndEffectApi",
  govoice_deliveries_settled_total: "govoice_deliveries_completed_total",
  govoice_invoice_moves_total: "govoice_invoice_transitions_total",
  govoice_leases_lost_total: "govoice_stale_completions_total",
  govoice_claim_seconds: "govoice_claim_duration_seconds",
  govoice_delivery_attempt_seconds: "govoice_delivery_attempt_duration_seconds",
  govoice_dispatcher_phase_milliseconds: "govoice_dispatcher_phase_duration_seconds",
  govoice_dispatcher_open: "govoice_dispatcher_in_use"
}

const pattern = new RegExp(`\\b(${Object.keys(retired).join("|")})\\b`, "g")

/** Returns the retired words of a text, as `line: word, use term`. */
const findings = (text: string): ReadonlyArray<string> =>
  text
    .split("\n")
    .flatMap((line, index) =>
      Array.from(line.matchAll(pattern), ([word]) => `${index + 1}: ${word}, use ${retired[word]}`)
    )

const tracked = execFileSync("git", ["ls-files", "*.ts", "*.mjs", "*.yaml", "*.yml", "*.md"], {
  cwd: root,
  encoding: "utf8"
})
  .trim()
  .split("\n")
  .filter((file) => !/vocabulary\.test\.ts$|CHANGELOG\.md$/.test(file))

describe("retired words", () => {
  it("are in no file", () => {
    assert.isAbove(tracked.length, 300)
    assert.deepStrictEqual(
      tracked.flatMap((file) =>
        findings(readFileSync(join(root, file), "utf8")).map((finding) => `${file}:${finding}`)
      ),
      []
    )
  })

  it("are found in identifiers, strings and SQL, not inside longer words", () => {
    assert.deepStrictEqual(findings("const nudge = 1\nSELECT leased_until\nunsettled altogether"), [
      "1: nudge, use recheck",
      "2: leased_until, use lease_expires_at"
    ])
  })
})
