import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { InvoiceState } from "../src/index.ts"
import { thorough } from "./arbitraries.ts"

const { Status, Trigger, emits, transitions } = InvoiceState

const edges = Status.literals.flatMap((status) =>
  Trigger.literals.flatMap((trigger) => {
    const target = transitions[status][trigger]
    return target === null ? [] : [`${status} --${trigger}-> ${target}`]
  })
)

interface Walk {
  readonly path: ReadonlyArray<InvoiceState.Status>
  readonly emitted: ReadonlyArray<string>
}

// Returns the sequences of statuses and event types. An illegal trigger changes nothing.
const walk = (triggers: ReadonlyArray<InvoiceState.Trigger>): Walk => {
  const path: Array<InvoiceState.Status> = [InvoiceState.initial]
  const emitted: Array<string> = [InvoiceState.createdEvent]
  for (const trigger of triggers) {
    const result = InvoiceState.next(path.at(-1)!, trigger)
    if (Result.isFailure(result)) continue
    path.push(result.success)
    const event = emits[trigger]
    if (event !== null) emitted.push(event)
  }
  return { path, emitted }
}

// Long enough, and with enough claims, to reach every final status.
const Triggers = Schema.Array(Schema.Union([Trigger, Schema.Literals(["claim", "submit", "accept"])])).check(
  Schema.isMaxLength(30)
)

describe("InvoiceState", () => {
  // The table, written a second time. A change of the table is a change of behavior, so it has to be made in
  // both places.
  it("allows the 13 transitions of an invoice and no others", () => {
    assert.deepStrictEqual(edges, [
      "queued --claim-> submitting",
      "submitting --claim-> submitting",
      "submitting --retry-> retrying",
      "submitting --submit-> submitted",
      "submitting --reject-> rejected",
      "submitting --fail-> failed",
      "retrying --claim-> submitting",
      "submitted --claim-> submitted",
      "submitted --accept-> accepted",
      "submitted --reject-> rejected",
      "submitted --fail-> failed",
      "accepted --claim-> accepted",
      "accepted --receipt-> accepted"
    ])
  })

  it("has the transitions of the contract's status table and no others", () => {
    const goesTo = Object.fromEntries(
      Status.literals.map((status) => [
        status,
        Status.literals.filter(
          (target) => target !== status && Object.values<string | null>(transitions[status]).includes(target)
        )
      ])
    )
    assert.deepStrictEqual(goesTo, {
      queued: ["submitting"],
      submitting: ["retrying", "submitted", "rejected", "failed"],
      retrying: ["submitting"],
      submitted: ["accepted", "rejected", "failed"],
      accepted: [],
      rejected: [],
      failed: []
    })
  })

  it("does not compile with a missing cell", () => {
    const { claim: _, ...incomplete } = transitions.queued
    // @ts-expect-error Property 'claim' is missing
    const table: InvoiceState.Transitions = { ...transitions, queued: incomplete }
    assert.isUndefined((table.queued as { claim?: unknown }).claim)
  })

  it("does not compile with a missing row", () => {
    const { failed: _, ...incomplete } = transitions
    // @ts-expect-error Property 'failed' is missing
    const table: InvoiceState.Transitions = incomplete
    assert.isFalse("failed" in table)
  })

  it("does not compile with a target that is not a status", () => {
    const table: InvoiceState.Transitions = {
      ...transitions,
      // @ts-expect-error Type '"lost"' is not assignable
      queued: { ...transitions.queued, claim: "lost" }
    }
    assert.strictEqual(table.queued.claim as string, "lost")
  })

  it("starts as queued with the event invoice.received", () => {
    assert.strictEqual(InvoiceState.initial, "queued")
    assert.strictEqual(InvoiceState.createdEvent, "invoice.received")
  })

  it("emits events for the triggers that an integration waits for only", () => {
    assert.deepStrictEqual(emits, {
      claim: null,
      retry: null,
      submit: "invoice.submitted",
      accept: "invoice.accepted",
      reject: "invoice.rejected",
      receipt: "invoice.upo_available",
      fail: "invoice.failed"
    })
  })

  describe("next", () => {
    it.each(Status.literals.flatMap((status) => Trigger.literals.map((trigger) => ({ status, trigger }))))(
      "decides $trigger for a $status invoice",
      ({ status, trigger }) => {
        const edge = edges.find((edge) => edge.startsWith(`${status} --${trigger}-> `))
        assert.deepStrictEqual(
          InvoiceState.next(status, trigger),
          edge === undefined
            ? Result.fail(new InvoiceState.IllegalTransition({ status, trigger }))
            : Result.succeed(edge.slice(edge.indexOf("> ") + 2) as InvoiceState.Status)
        )
      }
    )

    it("names the status and the trigger of an illegal transition", () => {
      const refused = Result.getOrThrow(Result.flip(InvoiceState.next("rejected", "accept")))
      assert.strictEqual(refused._tag, "IllegalInvoiceTransition")
      assert.strictEqual(refused.message, "An invoice that is rejected cannot accept")
    })

    it.prop(
      "leads from a final status to no other",
      [Triggers],
      ([triggers]) => {
        const { path } = walk(triggers)
        const end = path.findIndex((status) => ["accepted", "rejected", "failed"].includes(status))
        assert.isTrue(end === -1 || path.slice(end).every((status) => status === path[end]))
      },
      thorough
    )

    it.prop(
      "emits at most one event of a final status",
      [Triggers],
      ([triggers]) => {
        const verdicts = walk(triggers).emitted.filter((event) => /accepted|rejected|failed/.test(event))
        assert.isAtMost(verdicts.length, 1)
      },
      thorough
    )

    it.prop(
      "emits received, submitted, accepted and upo_available in this order",
      [Triggers],
      ([triggers]) => {
        const { emitted } = walk(triggers)
        const order = ["invoice.received", "invoice.submitted", "invoice.accepted", "invoice.upo_available"]
        const happy = emitted.filter((event) => order.includes(event))
        const firsts = [...new Set(happy)]
        assert.deepStrictEqual(firsts, order.slice(0, firsts.length))
      },
      thorough
    )

    it.prop(
      "allows a claim in every status except rejected and failed",
      [Triggers],
      ([triggers]) => {
        const status = walk(triggers).path.at(-1)!
        assert.strictEqual(
          Result.isSuccess(InvoiceState.next(status, "claim")),
          !["rejected", "failed"].includes(status)
        )
      },
      thorough
    )
  })

  describe("isFinal", () => {
    it("is true for the three final statuses of an invoice", () => {
      assert.deepStrictEqual(Status.literals.filter(InvoiceState.isFinal), ["accepted", "rejected", "failed"])
    })
  })
})
