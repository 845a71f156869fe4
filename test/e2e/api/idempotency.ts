/** Idempotency keys: replays, conflicts and concurrent duplicates. */
import { randomUUID } from "node:crypto"
import { assert, describe, it } from "vitest"
import { submit, until, xml } from "../support/client.ts"
import { type ApiSuite, codeOf, record, everyId } from "./suite.ts"

/** Registers the tests. */
export const testIdempotency = (api: ApiSuite): void => {
  const { call } = api

  describe("idempotency", () => {
    it("replays status and body for the same request, in any form of its JSON", async () => {
      const headers = { "idempotency-key": randomUUID() }
      const first = await submit(call, api.tenant.testKey, {
        headers,
        raw: `{"invoice_xml":"<a/>","metadata":{"a":"1","b":"2"}}`
      })
      const again = await submit(call, api.tenant.testKey, {
        headers: { ...headers, "gov-sandbox-scenario": "accepted" },
        raw: `{ "metadata": {"b":"2", "a":"\\u0031"}, "invoice_xml": "\\u003ca/>" }`
      })
      assert.strictEqual(again.status, 201)
      assert.strictEqual(again.text, first.text)
      assert.strictEqual(again.headers.get("location"), first.headers.get("location"))
      assert.strictEqual(again.headers.get("idempotent-replayed"), "true")
      assert.notStrictEqual(again.headers.get("request-id"), first.headers.get("request-id"))
    })

    it("replays the first response after the status of the invoice has changed", async () => {
      const headers = { "idempotency-key": randomUUID() }
      const first = await submit(call, api.tenant.testKey, { headers })
      await until(
        () => call("GET", first.headers.get("location") ?? "", { auth: api.tenant.testKey }),
        (answer) => record(answer)["status"] === "accepted"
      )
      assert.strictEqual((await submit(call, api.tenant.testKey, { headers })).text, first.text)
    })

    const conflicts: ReadonlyArray<readonly [string, Record<string, string>, Record<string, unknown>]> = [
      ["document", {}, { invoice_xml: `${xml} ` }],
      ["metadata", {}, { invoice_xml: xml, metadata: { a: "1" } }],
      ["scenario", { "gov-sandbox-scenario": "rejected" }, { invoice_xml: xml }]
    ]

    it.each(conflicts)("answers idempotency_conflict to another %s under the same key", async (_, more, body) => {
      const headers = { "idempotency-key": randomUUID() }
      await submit(call, api.tenant.testKey, { headers })
      const answer = await submit(call, api.tenant.testKey, { headers: { ...headers, ...more }, body })
      assert.strictEqual(codeOf(answer), "idempotency_conflict")
    })

    it("treats absent, null and empty metadata as the same", async () => {
      const headers = { "idempotency-key": randomUUID() }
      const first = await submit(call, api.tenant.testKey, { headers })
      for (const metadata of [null, {}]) {
        const again = await submit(call, api.tenant.testKey, { headers, body: { invoice_xml: xml, metadata } })
        assert.strictEqual(again.text, first.text)
      }
    })

    it("has keys of its own for each organization", async () => {
      const headers = { "idempotency-key": randomUUID() }
      const mine = await submit(call, api.tenant.testKey, { headers })
      const theirs = await submit(call, api.other.testKey, { headers })
      assert.strictEqual(theirs.status, 201)
      assert.isNull(theirs.headers.get("idempotent-replayed"))
      assert.notStrictEqual(record(theirs)["id"], record(mine)["id"])
    })

    it("creates one invoice for 50 concurrent duplicates, and answers all of them the same", async () => {
      const headers = { "idempotency-key": randomUUID() }
      const before = await everyId(call, api.tenant)
      const answers = await Promise.all(Array.from({ length: 50 }, () => submit(call, api.tenant.testKey, { headers })))
      assert.deepStrictEqual(new Set(answers.map(({ status }) => status)), new Set([201]))
      assert.strictEqual(new Set(answers.map(({ text }) => text)).size, 1)
      const first = answers.filter(({ headers }) => headers.get("idempotent-replayed") === null)
      assert.strictEqual(first.length, 1)
      assert.strictEqual((await everyId(call, api.tenant)).length, before.length + 1)
    })

    it("accepts one of 50 different concurrent requests with the same key", async () => {
      const headers = { "idempotency-key": randomUUID() }
      const before = await everyId(call, api.tenant)
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, index) =>
          submit(call, api.tenant.testKey, { headers, body: { invoice_xml: `<a n="${index}"/>` } })
        )
      )
      const codes = answers.map(codeOf).sort()
      assert.deepStrictEqual(codes, ["201", ...Array<string>(49).fill("idempotency_conflict")])
      assert.strictEqual((await everyId(call, api.tenant)).length, before.length + 1)
    })
  })
}
