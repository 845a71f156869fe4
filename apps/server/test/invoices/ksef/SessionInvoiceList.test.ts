import { assert, describe, it } from "@effect/vitest"
import { ErrorCodes } from "@govoice/ksef/protocol"
import { Effect } from "effect"
import { CallFailed } from "../../../src/invoices/ksef/CallFailure.ts"
import * as SessionInvoiceList from "../../../src/invoices/ksef/SessionInvoiceList.ts"

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

const page = (references: ReadonlyArray<string>, continuationToken?: string): SessionInvoiceList.InvoicePage => ({
  invoices: references.map((referenceNumber) => ({
    referenceNumber,
    invoiceHash: "a",
    status: { code: 200, description: "" },
    invoicingDate: 0
  })),
  continuationToken
})

/** Reads a list of two pages, whose second one is refused this often, and returns its references and the tokens of the calls. */
const read = (refusals: number) => {
  const tokens: Array<string | undefined> = []
  const pages = SessionInvoiceList.readPages((token) =>
    Effect.suspend(() => {
      tokens.push(token)
      if (token === undefined) return Effect.succeed(page(["1"], "next"))
      return tokens.filter((one) => one !== undefined).length <= refusals
        ? Effect.fail(wrongToken)
        : Effect.succeed(page(["2"]))
    })
  )
  return Effect.map(Effect.result(pages), (result) => ({
    tokens,
    references:
      result._tag === "Success" ? result.success.map(({ referenceNumber }) => referenceNumber) : result.failure
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
        yield* SessionInvoiceList.readPages(() =>
          Effect.sync(() => {
            calls++
            return page(
              Array.from({ length: size }, (_, n) => `${calls} ${n}`),
              "next"
            )
          })
        )
        assert.strictEqual(calls, expected)
      }
    })
  )

  it.effect("ends with a page that has no other documents than the ones before", () =>
    Effect.gen(function* () {
      const pages = [
        ["1", "2"],
        ["2", "3"],
        ["1", "3"]
      ]
      let calls = 0
      const invoices = yield* SessionInvoiceList.readPages(() =>
        Effect.sync(() => page(pages[calls++ % pages.length]!, "next"))
      )
      assert.strictEqual(calls, 3)
      assert.deepStrictEqual(
        invoices.map(({ referenceNumber }) => referenceNumber),
        ["1", "2", "3"]
      )
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
