/** The list of invoices for API keys: pages, filters, and who sees what. */
import { assert, describe, it } from "vitest"
import { problemOf } from "../support/agreement.ts"
import { signUp, submit, until, xml } from "../support/client.ts"
import { type ApiSuite, codeOf, control, data, record } from "./suite.ts"

/** Registers the tests. */
export const testInvoiceLists = (api: ApiSuite): void => {
  const { call } = api
  const list = (auth: string, query = "") => call("GET", `/v1/invoices${query}`, { auth })
  const idsOf = (answer: Parameters<typeof data>[0]) => data(answer).map(({ id }) => id)

  const submitWith = async (key: string, metadata: Record<string, string>, idempotencyKey: string) =>
    String(
      record(
        await call("POST", "/v1/invoices", {
          auth: key,
          headers: { "idempotency-key": idempotencyKey },
          body: { invoice_xml: xml, metadata }
        })
      )["id"]
    )

  describe("the list of invoices of an API key", () => {
    it("has every invoice once, newest first", async () => {
      const { testKey } = await signUp(call)
      const made: Array<string> = []
      for (let time = 0; time < 5; time++) made.push(String(record(await submit(call, testKey))["id"]))
      const seen: Array<unknown> = []
      let cursor: unknown = ""
      do {
        const answer = await list(testKey, `?limit=2${cursor === "" ? "" : `&cursor=${String(cursor)}`}`)
        seen.push(...idsOf(answer))
        cursor = record(answer)["next_cursor"]
      } while (cursor !== null)
      assert.deepStrictEqual(seen, made.toReversed())
      const last = await api.accepted(testKey)
      assert.deepStrictEqual(
        data(await list(testKey, "?limit=1"))[0],
        record(await call("GET", `/v1/invoices/${last}`, { auth: testKey }))
      )
    })

    it("has the invoices of the organization and the mode of the key only, and so has its cursor", async () => {
      const tenant = await signUp(call)
      const stranger = await signUp(call)
      await submit(call, tenant.testKey)
      const id = String(record(await submit(call, tenant.testKey))["id"])
      for (const key of [tenant.liveKey, stranger.testKey]) assert.lengthOf(data(await list(key)), 0)
      const page = await list(tenant.testKey, "?limit=1")
      assert.deepStrictEqual(idsOf(page), [id])
      const cursor = String(record(page)["next_cursor"])
      assert.strictEqual((await list(tenant.testKey, `?limit=1&cursor=${cursor}`)).status, 200)
      for (const key of [tenant.liveKey, stranger.testKey]) {
        assert.strictEqual(codeOf(await list(key, `?limit=1&cursor=${cursor}`)), "invalid_parameter")
      }
      for (const query of ["&status=accepted", "&metadata[a]=b"]) {
        assert.strictEqual(codeOf(await list(tenant.testKey, `?cursor=${cursor}${query}`)), "invalid_parameter")
      }
    })

    it("filters by status, time and metadata", async () => {
      const { testKey } = await signUp(call)
      const first = await submitWith(testKey, { order: "2026/1", shop: "a&b", "": "empty" }, "1")
      const second = await submitWith(testKey, { order: "2026/2", shop: "a&b", __proto__x: "[1]" }, "2")
      const shop = "metadata[shop]=a%26b"
      const cases: ReadonlyArray<readonly [string, ReadonlyArray<string>]> = [
        [`?${shop}`, [second, first]],
        ["?metadata%5Border%5D=2026/1", [first]],
        [`?${shop}&metadata[order]=2026%2F2`, [second]],
        [`?${shop}&metadata[order]=2026/3`, []],
        ["?metadata[]=empty", [first]],
        ["?metadata[__proto__]=empty", []],
        ["?metadata[order]=", []],
        ["?created_after=2026-01-01T00:00:00Z", [second, first]],
        ["?created_before=2026-01-01T00:00:00Z", []]
      ]
      for (const [query, expected] of cases) {
        const answer = await list(testKey, query)
        assert.strictEqual(answer.status, 200, query)
        assert.deepStrictEqual(idsOf(answer), [...expected], query)
      }
      await until(
        () => list(testKey, `?status=accepted&${shop}`),
        (answer) => data(answer).length === 2
      )
      assert.lengthOf(data(await list(testKey, "?status=rejected")), 0)
    })

    it("finds invoices by number, official number, buyer and seller, for its key and for its owner", async () => {
      const owner = await signUp(call)
      const document = (number: string, buyer: string) =>
        `<Faktura><Naglowek><KodFormularza kodSystemowy="FA (3)">FA</KodFormularza></Naglowek><Podmiot1><DaneIdentyfikacyjne><NIP>5265877635</NIP></DaneIdentyfikacyjne></Podmiot1><Podmiot2><DaneIdentyfikacyjne>${buyer}</DaneIdentyfikacyjne></Podmiot2><Fa><P_2>${number}</P_2></Fa></Faktura>`
      const submitDocument = async (number: string, buyer: string, metadata = {}) => {
        const body = { invoice_xml: document(number, buyer), metadata }
        return String(record(await submit(call, owner.testKey, { body }))["id"])
      }
      const first = await submitDocument(" FV  1 ", "<NIP>5260250274</NIP>", { order: "4711" })
      const second = await submitDocument("FV&#10;1", "<KodUE>DE</KodUE><NrVatUE>123456789</NrVatUE>")
      const third = await submitDocument("FV/1 &amp; 2", "<NIP>5260250274</NIP>")
      const accepted = await until(
        () => call("GET", `/v1/invoices/${first}`, { auth: owner.testKey }),
        (answer) => record(answer)["status"] === "accepted"
      )
      const official = String(record(accepted)["official_number"])
      const cases: ReadonlyArray<readonly [string, ReadonlyArray<string>]> = [
        ["number=FV%201", [second, first]],
        ["number=+FV%0A%09+1", [second, first]],
        ["number=FV1", []],
        ["number=FV/1%20%26%202", [third]],
        ["number=FV%201&buyer_tax_id=DE123456789", [second]],
        ["buyer_tax_id=5260250274", [third, first]],
        ["buyer_tax_id=5260250274&metadata[order]=4711", [first]],
        ["seller_tax_id=5265877635", [third, second, first]],
        ["seller_tax_id=5260250274", []],
        [`official_number=${official}`, [first]],
        [`official_number=${official}&number=FV1`, []],
        ["metadata[order]=4711", [first]]
      ]
      const path = `${control}/organizations/${owner.organizationId}/invoices`
      const ownerOfAnother = `${control}/organizations/${api.other.organizationId}/invoices`
      for (const [query, expected] of cases) {
        assert.deepStrictEqual(idsOf(await list(owner.testKey, `?${query}`)), [...expected], query)
        assert.deepStrictEqual(
          idsOf(await call("GET", `${path}?${query}`, { auth: owner.token })),
          [...expected],
          query
        )
        for (const answer of [
          await list(owner.liveKey, `?${query}`),
          await call("GET", `${path}?mode=live&${query}`, { auth: owner.token }),
          await call("GET", `${ownerOfAnother}?${query}`, { auth: api.other.token })
        ]) {
          assert.strictEqual(answer.status, 200, query)
          for (const id of [first, second, third]) assert.notInclude(idsOf(answer), id, query)
        }
      }
      const page = record(await list(owner.testKey, "?limit=1&seller_tax_id=5265877635"))
      const next = `?limit=1&cursor=${String(page["next_cursor"])}`
      assert.deepStrictEqual(idsOf(await list(owner.testKey, `${next}&seller_tax_id=5265877635`)), [second])
      for (const other of ["", "&seller_tax_id=5260250274", "&buyer_tax_id=5265877635"]) {
        assert.strictEqual(codeOf(await list(owner.testKey, next + other)), "invalid_parameter", other)
      }
    })

    it("refuses filters that nothing can match, and names them", async () => {
      const wrong: ReadonlyArray<readonly [string, string]> = [
        ["number", "number="],
        ["number", "number=%00"],
        ["official_number", `official_number=${"1".repeat(101)}`],
        ["buyer_tax_id", "buyer_tax_id="],
        ["seller_tax_id", "seller_tax_id=1&seller_tax_id=2"],
        ["metadata", "metadata[a]=1&metadata[a]=2"],
        ["metadata", `metadata[${"k".repeat(41)}]=1`],
        ["metadata", `metadata[a]=${"v".repeat(501)}`],
        ["metadata", "metadata[a]=%00"],
        ["status", "status=done"],
        ["created_after", "created_after=yesterday"],
        ["created_before", "created_before="]
      ]
      for (const [param, query] of wrong) {
        const answer = await list(api.tenant.testKey, `?${query}`)
        assert.strictEqual(codeOf(answer), "invalid_parameter", query)
        assert.strictEqual(problemOf(answer).param, param)
      }
      for (const query of ["metadata=a", 'metadata={"a":"b"}', "metadata[a=b", "mode=test", "event_id=evt_1"]) {
        assert.strictEqual(codeOf(await list(api.tenant.testKey, `?${query}`)), "unknown_parameter", query)
      }
    })
  })
}
