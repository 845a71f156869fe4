import { readFileSync } from "node:fs"
import { SandboxScenario } from "@govoice/core"
import { assert, describe, it } from "@effect/vitest"
import type { ClaimedInvoice } from "../../../src/invoices/ClaimedInvoice.ts"
import * as Sandbox from "../../../src/invoices/sandbox/Sandbox.ts"
import * as SandboxRecord from "../../../src/invoices/sandbox/SandboxRecord.ts"
import { transitioned } from "../../../src/invoices/TransitionSteps.ts"
import { invoice } from "./samples.ts"

type Scenario = ClaimedInvoice["scenario"]

const created = invoice.created_at.getTime()

/** Advances an invoice until nothing is left to do, with a clock that goes to the time of the next step. */
const play = (scenario: Scenario, stepMs = 1000) => {
  const log: Array<string> = []
  let row: ClaimedInvoice = { ...invoice, scenario }
  let at: Date | null = new Date(created + Sandbox.submitAfterMs(scenario, stepMs))
  while (at !== null) {
    const pending = Sandbox.advance(row, stepMs, at)
    const { emits, status } = pending.transition
    row = transitioned(pending)
    log.push(`${at.getTime() - created} ${status}, attempt ${row.attempt_count}${emits === null ? "" : `: ${emits}`}`)
    at = pending.transition.dueAt
  }
  return { log, row }
}

const accepted = [
  "1000 submitted, attempt 1: invoice.submitted",
  "2000 accepted, attempt 1: invoice.accepted",
  "3000 accepted, attempt 1: invoice.upo_available"
]

const timelines: ReadonlyArray<readonly [Scenario, ReadonlyArray<string>]> = [
  ["accepted", accepted],
  ["rejected", ["1000 submitted, attempt 1: invoice.submitted", "2000 rejected, attempt 1: invoice.rejected"]],
  [
    "temporary_failure",
    ["1000 retrying, attempt 1", "2000 retrying, attempt 2", "4000 failed, attempt 3: invoice.failed"]
  ],
  [
    "delayed",
    [
      "1000 submitted, attempt 1: invoice.submitted",
      "11000 accepted, attempt 1: invoice.accepted",
      "12000 accepted, attempt 1: invoice.upo_available"
    ]
  ],
  [null, accepted]
]

const protocol = (specifier: string): URL =>
  new URL(`../../../../../packages/ksef/src/${specifier.slice("@govoice/ksef/".length)}.ts`, import.meta.url)

/** The modules that a module is made of, and what they import from outside. */
const imports = (
  entry: URL
): { readonly files: ReadonlyMap<string, string>; readonly packages: ReadonlySet<string> } => {
  const files = new Map<string, string>()
  const packages = new Set<string>()
  const visit = (url: URL): void => {
    if (files.has(url.href)) return
    const source = readFileSync(url, "utf8")
    files.set(url.href, source)
    for (const [, specifier = ""] of source.matchAll(
      /^(?:import|export) (?!type)[^"]*from\s*"([^"]+)"|import\("([^"]+)"/gm
    )) {
      if (specifier.startsWith(".")) visit(new URL(specifier, url))
      else if (specifier.startsWith("@govoice/ksef/")) visit(protocol(specifier))
      else packages.add(specifier)
    }
  }
  visit(entry)
  return { files, packages }
}

describe("the sandbox", () => {
  it("imports no network, clock or random source", () => {
    const { files, packages } = imports(new URL("../../../src/invoices/sandbox/Sandbox.ts", import.meta.url))
    assert.isAbove(files.size, 7)
    assert.sameMembers([...packages], ["@govoice/core", "effect", "effect/DateTime", "node:crypto", "saxes"])
    for (const [file, source] of files) {
      assert.notMatch(
        source,
        /fetch\(|Date\.now|new Date\(\)|Math\.random|randomBytes|randomUUID|process\.|Clock/,
        file
      )
    }
  })

  it.each(timelines)("plays %s", (scenario, log) => {
    assert.deepStrictEqual(play(scenario).log, log)
  })

  it("has a timeline for every scenario", () => {
    assert.sameMembers(
      timelines.flatMap(([scenario]) => scenario ?? []),
      [...SandboxScenario.Scenario.literals]
    )
  })

  it("follows the configured step", () => {
    const times = (scenario: Scenario, stepMs: number) =>
      play(scenario, stepMs).log.map((line) => Number(line.split(" ")[0]))
    assert.deepStrictEqual(times("delayed", 7), [7, 77, 84])
    assert.deepStrictEqual(times("accepted", 0), [0, 0, 0])
  })

  it("stores the record of the invoice, and the reasons of the sandbox", () => {
    const { row } = play("accepted")
    assert.strictEqual(row.official_number, SandboxRecord.officialNumber(invoice))
    const receipt = Sandbox.advance({ ...row, upo_available: false }, 1000, new Date(created))
    assert.deepStrictEqual(receipt.transition.receipt, SandboxRecord.receipt(invoice))
    assert.deepStrictEqual(play("rejected").row.rejection, SandboxScenario.rejection)
    assert.deepStrictEqual(play("temporary_failure").row.failure, SandboxScenario.failure)
  })

  it("ends an invoice in a state that its scenario does not reach", () => {
    const at = new Date(created)
    const end = (changes: Partial<ClaimedInvoice>) => {
      const { dueAt, failure, status } = Sandbox.advance({ ...invoice, ...changes }, 1000, at).transition
      return { status, dueAt, failure }
    }
    const failed = { status: "failed", dueAt: null, failure: SandboxScenario.failure } as const
    assert.deepStrictEqual(end({ scenario: "temporary_failure", status: "submitted" }), failed)
    assert.deepStrictEqual(end({ scenario: "temporary_failure", status: "retrying", attempt_count: 9 }), failed)
    const accepted = { status: "accepted", dueAt: null, failure: undefined } as const
    assert.deepStrictEqual(end({ scenario: "rejected", status: "accepted" }), accepted)
  })

  it("returns the same transition for the same invoice and time", () => {
    const at = new Date(created + 1000)
    assert.deepStrictEqual(Sandbox.advance(invoice, 1000, at), Sandbox.advance(invoice, 1000, at))
  })
})
