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

// The statuses passed through. A trigger that is refused leaves the delivery where it was.
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
  // Says the table a second time, edge by edge. A change to the table is a change of behaviour and has to be made in
  // both places.
  it("allows these transitions and no others", () => {
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

  it("does not compile with a cell left undecided", () => {
    const { block: _, ...incomplete } = transitions.retrying
    // @ts-expect-error Property 'block' is missing
    const table: DeliveryState.Transitions = { ...transitions, retrying: incomplete }
    assert.isUndefined((table.retrying as { block?: unknown }).block)
  })

  it("does not compile with a row left out", () => {
    const { succeeded: _, ...incomplete } = transitions
    // @ts-expect-error Property 'succeeded' is missing
    const table: DeliveryState.Transitions = incomplete
    assert.isFalse("succeeded" in table)
  })

  it("does not compile with a target that is no status", () => {
    const table: DeliveryState.Transitions = {
      ...transitions,
      // @ts-expect-error Type '"lost"' is not assignable
      pending: { ...transitions.pending, claim: "lost" }
    }
    assert.strictEqual(table.pending.claim as string, "lost")
  })

  it("starts out as planned", () => {
    assert.strictEqual(DeliveryState.initial, "pending")
  })

  describe("next", () => {
    it.each(Status.literals.flatMap((status) => Trigger.literals.map((trigger) => ({ status, trigger }))))(
      "decides $trigger of a delivery that is $status",
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

    it("names the status and the trigger that it refused", () => {
      const refused = Result.getOrThrow(Result.flip(DeliveryState.next("succeeded", "claim")))
      assert.strictEqual(refused._tag, "IllegalDeliveryTransition")
      assert.strictEqual(refused.message, "A delivery that is succeeded cannot claim")
    })

    it.prop(
      "ends once, and stays ended",
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
      "sends nothing that no worker has claimed",
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
      "can be taken up again until it has ended",
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
    it("holds for the three ends of a delivery", () => {
      assert.deepStrictEqual(Status.literals.filter(DeliveryState.isFinal), [
        "succeeded",
        "failed",
        "endpoint_disabled"
      ])
    })
  })
})
