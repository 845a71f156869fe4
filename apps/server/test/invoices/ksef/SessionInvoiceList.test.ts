import { assert, describe, it } from "@effect/vitest"
import type { Ids } from "@govoice/core"
import { ErrorCodes } from "@govoice/ksef/protocol"
import { Effect, Redacted } from "effect"
import { CallFailed } from "../../../src/invoices/ksef/CallFailure.ts"
import type { LaneContext } from "../../../src/invoices/ksef/LaneContext.ts"
import * as SessionInvoiceList from "../../../src/invoices/ksef/SessionInvoiceList.ts"

const organizationId = "org_1" as Ids.OrganizationId

const wrongToken = new CallFailed({
  call: "sessionInvoices",
  until: 0,
  failure: {
    _tag: "code",
    code: 21418,
    action: ErrorCodes.errorCode("sessionInvoices", 21418)!.action,
    refusal: undefined,
    message: "refused"
  }
})

/** Reads a list of two pages, whose second one is refused this often, and returns its references and the tokens of the calls. */
const read = (refusals: number) => {
  const tokens: Array<string | undefined> = []
  const page = ({ continuationToken }: { readonly continuationToken: string | undefined }) =>
    Effect.suspend(() => {
      tokens.push(continuationToken)
      if (continuationToken === undefined) {
        return Effect.succeed({
          invoices: [{ referenceNumber: "1", invoiceHash: "a", status: { code: 200 } }],
          continuationToken: "next"
        })
      }
      return tokens.filter((token) => token !== undefined).length <= refusals
        ? Effect.fail(wrongToken)
        : Effect.succeed({ invoices: [{ referenceNumber: "2", invoiceHash: "b", status: { code: 200 } }] })
    })
  // The cast: a list needs these members of the lane alone.
  const context = {
    store: { write: () => Effect.void },
    system: { client: { sessionInvoices: page } },
    call: (_: unknown, effect: Effect.Effect<unknown>) => effect,
    logins: { accessToken: () => Effect.succeed(Redacted.make("token")) },
    organizations: new Map([[organizationId, { id: organizationId }]])
  } as unknown as LaneContext
  return Effect.map(Effect.result(SessionInvoiceList.read(context, organizationId, "session")), (result) => ({
    tokens,
    references:
      result._tag === "Success"
        ? [...result.success.byHash.values()].flat().map(({ referenceNumber }) => referenceNumber)
        : result.failure
  }))
}

describe("the list of a session", () => {
  it.effect("is read again from its beginning if KSeF refuses the token of a page (21418)", () =>
    Effect.gen(function* () {
      const { references, tokens } = yield* read(1)
      assert.deepStrictEqual(references, ["1", "2"])
      assert.deepStrictEqual(tokens, [undefined, "next", undefined, "next"])
    })
  )

  it.effect("ends with the error after three such restarts", () =>
    Effect.gen(function* () {
      const { references, tokens } = yield* read(Infinity)
      assert.strictEqual(references, wrongToken)
      assert.lengthOf(tokens, 8)
    })
  )
})
