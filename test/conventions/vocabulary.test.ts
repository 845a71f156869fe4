/**
 * Rejects retired words: identifiers, SQL, metrics, settings and log messages use the terms of the glossary in CONTRIBUTING.md.
 *
 * Words that are no English are rejected in all tracked text files. English words are rejected as names in the code of the
 * server, the dispatcher and the client, because sentences use them.
 */
import { execFileSync } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import ts from "typescript"
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
  govoice_wakeups: "govoice_notifications",
  tenantConcurrency: "organizationConcurrency",
  settleAsFailed: "failSubmittedInvoice",
  NotSettled: "FailRefused",
  HeldLane: "LeasedLane",
  maxHeld: "maxWaiting",
  LookTiming: "LookupTiming",
  looksMs: "intervalMs",
  KeyFileTurns: "KeyFileQueue",
  govoice_deliveries_settled_total: "govoice_deliveries_completed_total",
  govoice_invoice_moves_total: "govoice_invoice_transitions_total",
  govoice_leases_lost_total: "govoice_stale_completions_total",
  govoice_claim_seconds: "govoice_claim_duration_seconds",
  govoice_delivery_attempt_seconds: "govoice_delivery_attempt_duration_seconds",
  govoice_dispatcher_phase_milliseconds: "govoice_dispatcher_phase_duration_seconds",
  govoice_dispatcher_open: "govoice_dispatcher_in_use"
}

/** Retired names that are English words, with the standard term. */
const retiredNames: Readonly<Record<string, string>> = {
  Together: "Batcher",
  Availability: "SqlErrors",
  Refusal: "SqlErrors",
  Outage: "ThrottledLog",
  away: "down",
  missed: "failure",
  met: "success",
  garbage: "v8Flags",
  Unparsed: "wellFormednessScan",
  Timers: "DeliveryScheduler",
  Round: "Iteration",
  soon: "backoff, or the name of the time",
  Move: "Transition",
  Moves: "Transitions",
  Moving: "PendingTransition",
  follow: "transition",
  stay: "reschedule",
  ask: "callGateway",
  told: "request",
  Moment: "Context",
  Moments: "PhaseTimestamps",
  Instant: "timestamps",
  Retention: "Pruner",
  speak: "flushAndClaim",
  spoken: "result",
  gather: "waitForBatch",
  gathered: "batchReady",
  apart: "completeInBackground",
  Settled: "Completion, or the outcome",
  room: "capacity",
  Room: "capacity",
  dealt: "allocated",
  walk: "scan",
  visited: "scanned",
  marks: "cursors",
  claims: "fencingToken",
  held: "leased",
  trouble: "failureStatus",
  unconnected: "connection_failed",
  plays: "steps",
  Deadline: "RequestTimeout",
  Pipeline: "RequestLifecycle",
  Targets: "PoolManager",
  Urls: "UrlCache",
  Receipt: "UpoResponse",
  Pages: "Pagination",
  remembered: "cacheOptions",
  Grant: "ApiKeyIdentity",
  Choices: "EndpointInput",
  Kept: "StoredSecrets",
  says: "message",
  about: "check",
  inward: "internalAddresses",
  keeps: "shouldKeepAlive",
  forget: "evict, or discard",
  carried: "embeddedIpv4",
  must: "assertMatches",
  kinds: "schemas",
  looks: "lookups",
  looked: "afterLookup",
  parked: "postponed",
  tenant: "organization",
  Tenant: "Organization"
}

const pattern = new RegExp(`\\b(${Object.keys(retired).join("|")})\\b`, "g")

/** Returns the retired words of a text, as `line: word, use term`. */
const findings = (text: string): ReadonlyArray<string> =>
  text
    .split("\n")
    .flatMap((line, index) =>
      Array.from(line.matchAll(pattern), ([word]) => `${index + 1}: ${word}, use ${retired[word]}`)
    )

// The names that a statement gives its columns.
const alias = /\bAS ([a-z_]+)/g

/** Returns the retired names of a module: its identifiers, and the columns of its statements. */
const nameFindings = (text: string): ReadonlyArray<string> => {
  const source = ts.createSourceFile("module.ts", text, ts.ScriptTarget.Latest)
  const names: Array<string> = []
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node)) names.push(node.text)
    if (ts.isTemplateLiteralToken(node)) names.push(...Array.from(node.text.matchAll(alias), ([, name]) => name!))
    ts.forEachChild(node, visit)
  }
  visit(source)
  return names.filter((name) => Object.hasOwn(retiredNames, name)).map((name) => `${name}, use ${retiredNames[name]}`)
}

const listed = (...paths: ReadonlyArray<string>): ReadonlyArray<string> =>
  execFileSync("git", ["ls-files", ...paths], { cwd: root, encoding: "utf8" })
    .trim()
    .split("\n")

const read = (file: string): string => readFileSync(join(root, file), "utf8")

const tracked = listed()
  .filter((file) => !/vocabulary\.test\.ts$|CHANGELOG\.md$|pnpm-lock\.yaml$/.test(file) && existsSync(join(root, file)))
  .filter((file) => !read(file).includes("\0"))

const modules = listed(
  ...["apps/server", "packages/dispatcher", "packages/client"].flatMap((folder) => [`${folder}/src/*.ts`])
).filter((file) => existsSync(join(root, file)))

describe("retired words", () => {
  it("occur in no file", () => {
    assert.isAbove(tracked.length, 300)
    for (const kind of [/\.tsx$/, /dashboard\.json$/, /\.sh$|\.ci\/run$/])
      assert.isTrue(tracked.some((file) => kind.test(file)))
    assert.deepStrictEqual(
      tracked.flatMap((file) => findings(read(file)).map((finding) => `${file}:${finding}`)),
      []
    )
  })

  it("are found in identifiers, strings and SQL, not inside longer words", () => {
    assert.deepStrictEqual(findings("const nudge = 1\nSELECT leased_until\nunsettled altogether"), [
      "1: nudge, use recheck",
      "2: leased_until, use lease_expires_at"
    ])
  })

  it("are no names in the server, the dispatcher and the client", () => {
    assert.isAbove(modules.length, 200)
    assert.deepStrictEqual(
      modules.flatMap((file) => nameFindings(read(file)).map((finding) => `${file}: ${finding}`)),
      []
    )
  })

  it("are found as names of code and of columns, not in sentences and longer names", () => {
    assert.deepStrictEqual(
      // oxlint-disable-next-line no-template-curly-in-string -- the text is code with a template
      nameFindings("/** forget it */ const forget = sql`SELECT ${x} AS held, true AS is_held`, seatsHeld = `held`"),
      ["forget, use evict, or discard", "held, use leased"]
    )
  })
})
