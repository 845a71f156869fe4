import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { DeliveryState } from "../src/index.ts"
import { thorough } from "./arbitraries.ts"

const { Status, Trigger, transitions } = DeliveryState

const edges = Status.literals.flatMap((status) =>
  Trigger.literals.flatMap((trigger) => {
    const target = transitions[status][trigger]
    return target === null ? [] : [`${status} --${trigger}-> ${target}`]
  })
)

// Returns the sequence of statuses. An illegal trigger changes nothing.
const walk = (triggers: ReadonlyArray<DeliveryState.Trigger>): ReadonlyArray<DeliveryState.Status> => {
  const path: Array<DeliveryState.Status> = [DeliveryState.initial]
  for (const trigger of triggers) {
    const result = DeliveryState.next(path.at(-1)!, trigger)
    if (Result.isSuccess(result)) path.push(result.success)
  }
  return path
}

const Triggers = Schema.Array(Schema.Union([Trigger, Schema.Literals(["claim", "retry"])])).check(
  Schema.isMaxLength(30)
)

describe("DeliveryState", () => {
  // The table, written a second time. A change of the table is a change of behavior, so it has to be made in
  // both places.
  it("allows the 12 transitions of a delivery and no others", () => {
    assert.deepStrictEqual(edges, [
      "pending --claim-> delivering",
      "pending --disable-> endpoint_disabled",
      "pending --block-> failed",
      "delivering --claim-> delivering",
      "delivering --succeed-> succeeded",
      "delivering --retry-> retrying",
      "delivering --fail-> failed",
      "delivering --disable-> endpoint_disabled",
      "delivering --block-> failed",
      "retrying --claim-> delivering",
      "retrying --disable-> endpoint_disabled",
      "retrying --block-> failed"
    ])
  })

  it("has the six statuses that delivery records show", () => {
    assert.deepStrictEqual([...Status.literals].sort(), [
      "delivering",
      "endpoint_disabled",
      "failed",
      "pending",
      "retrying",
      "succeeded"
    ])
  })

  it("does not compile with a missing cell", () => {
    const { block: _, ...incomplete } = transitions.retrying
    // @ts-expect-error Property 'block' is missing
    const table: DeliveryState.Transitions = { ...transitions, retrying: incomplete }
    assert.isUndefined((table.retrying as { block?: unknown }).block)
  })

  it("does not compile with a missing row", () => {
    const { succeeded: _, ...incomplete } = transitions
    // @ts-expect-error Property 'succeeded' is missing
    const table: DeliveryState.Transitions = incomplete
    assert.isFalse("succeeded" in table)
  })

  it("does not compile with a target that is not a status", () => {
    const table: DeliveryState.Transitions = {
      ...transitions,
      // @ts-expect-error Type '"lost"' is not assignable
      pending: { ...transitions.pending, claim: "lost" }
    }
    assert.strictEqual(table.pending.claim as string, "lost")
  })

  it("starts as pending", () => {
    assert.strictEqual(DeliveryState.initial, "pending")
  })

  describe("next", () => {
    it.each(Status.literals.flatMap((status) => Trigger.literals.map((trigger) => ({ status, trigger }))))(
      "decides $trigger for a $status delivery",
      ({ status, trigger }) => {
        const edge = edges.find((edge) => edge.startsWith(`${status} --${trigger}-> `))
        assert.deepStrictEqual(
          DeliveryState.next(status, trigger),
          edge === undefined
            ? Result.fail(new DeliveryState.IllegalTransition({ status, trigger }))
            : Result.succeed(edge.slice(edge.indexOf("> ") + 2) as DeliveryState.Status)
        )
      }
    )

    it("names the status and the trigger of an illegal transition", () => {
      const refused = Result.getOrThrow(Result.flip(DeliveryState.next("succeeded", "claim")))
      assert.strictEqual(refused._tag, "IllegalDeliveryTransition")
      assert.strictEqual(refused.message, "A delivery that is succeeded cannot claim")
    })

    it.prop(
      "leads to a final status at most once, and to no status from there",
      [Triggers],
      ([triggers]) => {
        const path = walk(triggers)
        const ends = path.filter((status) => ["succeeded", "failed", "endpoint_disabled"].includes(status))
        assert.isAtMost(ends.length, 1)
        assert.isTrue(ends.length === 0 || path.at(-1) === ends[0])
      },
      thorough
    )

    it.prop(
      "leads to succeeded and retrying from delivering only",
      [Triggers],
      ([triggers]) => {
        const path = walk(triggers)
        for (const [index, status] of path.entries()) {
          if (status === "succeeded" || status === "retrying") assert.strictEqual(path[index - 1], "delivering")
        }
      },
      thorough
    )

    it.prop(
      "allows a claim in every status that is not final, and in no other",
      [Triggers],
      ([triggers]) => {
        const status = walk(triggers).at(-1)!
        assert.strictEqual(
          Result.isSuccess(DeliveryState.next(status, "claim")),
          ["pending", "delivering", "retrying"].includes(status)
        )
      },
      thorough
    )
  })

  describe("isFinal", () => {
    it("is true for the three final statuses of a delivery", () => {
      assert.deepStrictEqual(Status.literals.filter(DeliveryState.isFinal), [
        "succeeded",
        "failed",
        "endpoint_disabled"
      ])
    })
  })
})
