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

interface Page {
  readonly invoices: ReadonlyArray<{
    readonly referenceNumber: string
    readonly invoiceHash: string
    readonly status: object
  }>
  readonly continuationToken?: string
}

/** Reads a list of these pages, by their tokens. */
const readPages = (
  page: (call: { readonly continuationToken: string | undefined }) => Effect.Effect<Page, CallFailed>
) => {
  // The cast: a list needs these members of the lane alone.
  const context = {
    store: { write: () => Effect.void },
    system: { client: { sessionInvoices: page } },
    call: (_: unknown, effect: Effect.Effect<unknown>) => effect,
    logins: { accessToken: () => Effect.succeed(Redacted.make("token")) },
    organizations: new Map([[organizationId, { id: organizationId }]])
  } as unknown as LaneContext
  return Effect.result(SessionInvoiceList.read(context, organizationId, "session"))
}

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
  return Effect.map(readPages(page), (result) => ({
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

  it.effect("ends with an empty page, and with as many documents as a session has", () =>
    Effect.gen(function* () {
      for (const [size, expected] of [
        [0, 1],
        [1000, 10]
      ] as const) {
        let calls = 0
        yield* readPages(() =>
          Effect.sync(() => {
            const invoices = Array.from({ length: size }, (_, index) => ({
              referenceNumber: `${calls}-${index}`,
              invoiceHash: "a",
              status: { code: 200 }
            }))
            calls++
            return { invoices, continuationToken: "next" }
          })
        )
        assert.strictEqual(calls, expected)
      }
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
