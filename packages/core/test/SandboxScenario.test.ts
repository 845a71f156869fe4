import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { InvoiceEvent, InvoiceState, SandboxScenario } from "../src/index.ts"

const { Scenario, steps } = SandboxScenario

// Runs a scenario through the state machine as a worker does: claim, then the trigger of the step.
const perform = (scenario: SandboxScenario.Scenario): { timeline: Array<string>; events: Array<string> } => {
  let status: InvoiceState.Status = InvoiceState.initial
  let step = 0
  const timeline = [`0: ${status}`]
  const events: Array<string> = [InvoiceState.createdEvent]
  for (const { afterSteps, trigger } of steps[scenario]) {
    step += afterSteps
    status = Result.getOrThrow(InvoiceState.next(Result.getOrThrow(InvoiceState.next(status, "claim")), trigger))
    timeline.push(`${step}: ${trigger} -> ${status}`)
    const event = InvoiceState.emits[trigger]
    if (event !== null) events.push(event)
  }
  assert.isTrue(InvoiceState.isFinal(status))
  return { timeline, events }
}

describe("SandboxScenario", () => {
  it("has the four values of the header; the default is accepted", () => {
    assert.deepStrictEqual(Scenario.literals, ["accepted", "rejected", "temporary_failure", "delayed"])
    assert.strictEqual(SandboxScenario.defaultScenario, "accepted")
  })

  // The scenarios, written a second time as an integration sees them: the time and the new status.
  it.each<[scenario: SandboxScenario.Scenario, timeline: Array<string>, events: Array<string>]>([
    [
      "accepted",
      ["0: queued", "1: submit -> submitted", "2: accept -> accepted", "3: receipt -> accepted"],
      ["invoice.received", "invoice.submitted", "invoice.accepted", "invoice.upo_available"]
    ],
    [
      "rejected",
      ["0: queued", "1: submit -> submitted", "2: reject -> rejected"],
      ["invoice.received", "invoice.submitted", "invoice.rejected"]
    ],
    [
      "temporary_failure",
      ["0: queued", "1: retry -> retrying", "2: retry -> retrying", "4: fail -> failed"],
      ["invoice.received", "invoice.failed"]
    ],
    [
      "delayed",
      ["0: queued", "1: submit -> submitted", "11: accept -> accepted", "12: receipt -> accepted"],
      ["invoice.received", "invoice.submitted", "invoice.accepted", "invoice.upo_available"]
    ]
  ])("has the timeline and the events of the contract for the scenario %s", (scenario, timeline, events) => {
    assert.deepStrictEqual(perform(scenario), { timeline, events })
  })

  it("produces all six event types with the four scenarios", () => {
    const events = new Set(Scenario.literals.flatMap((scenario) => perform(scenario).events))
    assert.deepStrictEqual([...events].sort(), [...InvoiceEvent.EventType.literals].sort())
  })

  it("has no two steps at the same time", () => {
    for (const scenario of Scenario.literals) {
      assert.isTrue(steps[scenario].every(({ afterSteps }) => Number.isInteger(afterSteps) && afterSteps >= 1))
    }
  })

  it("has the reason codes of the contract", () => {
    assert.strictEqual(SandboxScenario.rejection.code, "sandbox_rejected")
    assert.strictEqual(SandboxScenario.failure.code, "gateway_unavailable")
    assert.match(SandboxScenario.rejection.message, /sandbox/)
    assert.match(SandboxScenario.failure.message, /sandbox/)
  })

  it("does not compile with a missing scenario", () => {
    const { delayed: _, ...incomplete } = steps
    // @ts-expect-error Property 'delayed' is missing
    const table: { readonly [S in SandboxScenario.Scenario]: ReadonlyArray<SandboxScenario.Step> } = incomplete
    assert.isFalse("delayed" in table)
  })
})
