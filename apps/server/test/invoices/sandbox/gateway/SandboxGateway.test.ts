import { readFileSync } from "node:fs"
import { SandboxScenario } from "@govoice/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { GatewayInvoice } from "../../../../src/invoices/sandbox/gateway/InvoiceGateway.ts"
import * as SandboxGateway from "../../../../src/invoices/sandbox/gateway/SandboxGateway.ts"
import * as SandboxRecord from "../../../../src/invoices/sandbox/gateway/SandboxRecord.ts"
import { invoice } from "./samples.ts"

const step = 1000
const gateway = SandboxGateway.make(step)

/**
 * Processes an invoice with the gateway as a worker does, with a clock that advances by the times of the responses.
 */
const play = Effect.fnUntraced(function* (scenario: GatewayInvoice["scenario"], stepMs = step) {
  const gateway = SandboxGateway.make(stepMs)
  const log: Array<string> = []
  let now = gateway.submitAfterMs(scenario)
  for (let attempt = 1; ; attempt++) {
    const submission = yield* gateway.submit({ ...invoice, scenario, attempt })
    log.push(`${now} submit ${attempt}: ${submission._tag}`)
    if (submission._tag === "Temporary" && attempt < 10) {
      now += submission.retryAfterMs ?? Number.NaN
      continue
    }
    if (submission._tag !== "Submitted") return log
    const submitted = { ...invoice, scenario, attempt, reference: submission.reference }
    now += submission.pollAfterMs
    const verdict = yield* gateway.poll(submitted)
    log.push(`${now} poll: ${verdict._tag}`)
    if (verdict._tag !== "Accepted") return log
    now += verdict.receiptAfterMs
    const receipt = yield* gateway.receipt(submitted)
    log.push(`${now} receipt: ${receipt._tag}`)
    return log
  }
})

const timelines: ReadonlyArray<readonly [GatewayInvoice["scenario"], ReadonlyArray<string>]> = [
  ["accepted", ["1000 submit 1: Submitted", "2000 poll: Accepted", "3000 receipt: Available"]],
  ["rejected", ["1000 submit 1: Submitted", "2000 poll: Rejected"]],
  ["temporary_failure", ["1000 submit 1: Temporary", "2000 submit 2: Temporary", "4000 submit 3: Permanent"]],
  ["delayed", ["1000 submit 1: Submitted", "11000 poll: Accepted", "12000 receipt: Available"]],
  [null, ["1000 submit 1: Submitted", "2000 poll: Accepted", "3000 receipt: Available"]]
]

const protocol = (specifier: string): URL =>
  new URL(`../../../../../../packages/ksef/src/${specifier.slice("@govoice/ksef/".length)}.ts`, import.meta.url)

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
    for (const [, specifier = ""] of source.matchAll(/(?:from|import\()\s*"([^"]+)"/g)) {
      if (specifier.startsWith(".")) visit(new URL(specifier, url))
      else if (specifier.startsWith("@govoice/ksef/")) visit(protocol(specifier))
      else packages.add(specifier)
    }
  }
  visit(entry)
  return { files, packages }
}

describe("SandboxGateway", () => {
  it("imports no network, clock or random source", () => {
    const { files, packages } = imports(
      new URL("../../../../src/invoices/sandbox/gateway/SandboxGateway.ts", import.meta.url)
    )
    assert.isAbove(files.size, 8)
    assert.sameMembers(
      [...packages],
      ["@govoice/core", "effect", "effect/DateTime", "fast-xml-parser", "node:crypto", "saxes"]
    )
    for (const [file, source] of files) {
      assert.notMatch(
        source,
        /fetch\(|Date\.now|new Date\(\)|Math\.random|randomBytes|randomUUID|process\.|Clock/,
        file
      )
    }
  })

  it.effect.each(timelines)("plays %s", ([scenario, log]) =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* play(scenario), log)
    })
  )

  it("has a timeline for every scenario", () => {
    assert.sameMembers(
      timelines.flatMap(([scenario]) => scenario ?? []),
      [...SandboxScenario.Scenario.literals]
    )
  })

  it.effect("follows the configured step", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* play("delayed", 7), [
        "7 submit 1: Submitted",
        "77 poll: Accepted",
        "84 receipt: Available"
      ])
      assert.deepStrictEqual(yield* play("accepted", 0), [
        "0 submit 1: Submitted",
        "0 poll: Accepted",
        "0 receipt: Available"
      ])
    })
  )

  it.effect("returns the reasons of the sandbox", () =>
    Effect.gen(function* () {
      const failing = { ...invoice, scenario: "temporary_failure" } as const
      assert.deepStrictEqual(yield* gateway.poll({ ...invoice, scenario: "rejected" }), {
        _tag: "Rejected",
        reason: SandboxScenario.rejection
      })
      assert.deepStrictEqual(yield* gateway.submit(failing), {
        _tag: "Temporary",
        reason: SandboxScenario.failure,
        retryAfterMs: step
      })
      assert.deepStrictEqual(yield* gateway.submit({ ...failing, attempt: 3 }), {
        _tag: "Permanent",
        reason: SandboxScenario.failure
      })
    })
  )

  it.effect("returns the record of the invoice", () =>
    Effect.gen(function* () {
      const submission = yield* gateway.submit(invoice)
      const verdict = yield* gateway.poll(invoice)
      const receipt = yield* gateway.receipt(invoice)
      assert.strictEqual(submission._tag === "Submitted" && submission.reference, SandboxRecord.reference(invoice))
      assert.strictEqual(verdict._tag === "Accepted" && verdict.officialNumber, SandboxRecord.officialNumber(invoice))
      assert.deepStrictEqual(receipt._tag === "Available" && receipt.xml, SandboxRecord.receipt(invoice))
    })
  )

  it.effect("repeats the last step when expired leases caused more attempts than the scenario has steps", () =>
    Effect.gen(function* () {
      const tag = (scenario: SandboxScenario.Scenario, attempt: number) =>
        Effect.map(gateway.submit({ ...invoice, scenario, attempt }), ({ _tag }) => _tag)
      assert.strictEqual(yield* tag("accepted", 2), "Submitted")
      assert.strictEqual(yield* tag("delayed", 9), "Submitted")
      assert.strictEqual(yield* tag("temporary_failure", 4), "Permanent")
    })
  )

  it.effect("fails for an invoice state that its scenario does not reach", () =>
    Effect.gen(function* () {
      const unavailable = { _tag: "Permanent", reason: SandboxScenario.failure } as const
      assert.deepStrictEqual(yield* gateway.poll({ ...invoice, scenario: "temporary_failure" }), unavailable)
      assert.deepStrictEqual(yield* gateway.receipt({ ...invoice, scenario: "temporary_failure" }), unavailable)
      assert.deepStrictEqual(yield* gateway.receipt({ ...invoice, scenario: "rejected" }), unavailable)
    })
  )

  it.effect("returns the same response for repeated requests at any time", () =>
    Effect.gen(function* () {
      const ask = (gateway: ReturnType<typeof SandboxGateway.make>) =>
        Effect.all([gateway.submit(invoice), gateway.poll(invoice), gateway.receipt(invoice)])
      const first = yield* ask(gateway)
      assert.deepStrictEqual(yield* ask(gateway), first)
      assert.deepStrictEqual(yield* ask(SandboxGateway.make(step)), first)
    })
  )
})
