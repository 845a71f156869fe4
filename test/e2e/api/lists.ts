/** Lists: pages, cursors and filters. */
import { assert, describe, it } from "vitest"
import { problemOf } from "../support/agreement.ts"
import { signUp, submit, until } from "../support/client.ts"
import { operationsOf } from "../support/operations.ts"
import { type ApiSuite, codeOf, control, data, record } from "./suite.ts"

const flip = (text: string): string => {
  const index = Math.floor(text.length / 2)
  return `${text.slice(0, index)}${text[index] === "a" ? "b" : "a"}${text.slice(index + 1)}`
}

/** Registers the tests. */
export const testLists = (api: ApiSuite): void => {
  const { call } = api

  describe("lists", () => {
    it("have every record once, newest first, with any size of the pages", async () => {
      const reader = await signUp(call)
      const made: Array<string> = []
      for (let time = 0; time < 7; time++) made.push(String(record(await submit(call, reader.testKey))["id"]))
      for (const limit of [1, 2, 3, 7, 8, 100]) {
        const seen: Array<string> = []
        let cursor = ""
        for (let page = 0; page < 10; page++) {
          const query = `limit=${limit}${cursor === "" ? "" : `&cursor=${cursor}`}`
          const answer = record(
            await call("GET", `${control}/organizations/${reader.organizationId}/invoices?${query}`, {
              auth: reader.token
            })
          )
          const records = answer["data"] as ReadonlyArray<{ readonly id: string }>
          seen.push(...records.map(({ id }) => id))
          assert.strictEqual(answer["has_more"], answer["next_cursor"] !== null)
          if (answer["next_cursor"] === null) break
          assert.lengthOf(records, limit)
          cursor = answer["next_cursor"] as string
        }
        assert.deepStrictEqual(seen, made.toReversed())
      }
    })

    it("filter invoices by status and mode", async () => {
      const reader = await signUp(call)
      await submit(call, reader.testKey)
      const list = (query: string) =>
        call("GET", `${control}/organizations/${reader.organizationId}/invoices?${query}`, { auth: reader.token })
      assert.lengthOf(data(await list("mode=live")), 0)
      assert.lengthOf(data(await list("mode=test")), 1)
      await until(
        () => list("status=accepted&mode=test"),
        (answer) => data(answer).length === 1
      )
      assert.lengthOf(data(await list("status=rejected")), 0)
    })

    it("refuse invalid limits, cursors and parameters", async () => {
      for (const operation of operationsOf(api.tenant, "inv_x").filter(({ isList }) => isList)) {
        const auth = operation.auth === "key" ? api.tenant.testKey : api.tenant.token
        const ask = (query: string) => call("GET", `${operation.path}?${query}`, { auth })
        for (const query of [
          "limit=0",
          "limit=101",
          "limit=1e1",
          "limit=",
          "limit=-1",
          "limit=1&limit=2",
          "limit=%00"
        ]) {
          const answer = await ask(query)
          assert.strictEqual(codeOf(answer), "invalid_parameter", `${operation.id} ${query}`)
          assert.strictEqual(problemOf(answer).param, "limit")
        }
        for (const query of ["cursor=", "cursor=x", "cursor=%00", `cursor=${"A".repeat(4000)}`, "cursor=a&cursor=b"]) {
          const answer = await ask(query)
          assert.strictEqual(codeOf(answer), "invalid_parameter", `${operation.id} ${query}`)
          assert.strictEqual(problemOf(answer).param, "cursor")
        }
        for (const query of ["page=1", "Limit=1", "__proto__=1", "constructor=1"]) {
          const answer = await ask(query)
          assert.strictEqual(codeOf(answer), "unknown_parameter", `${operation.id} ${query}`)
        }
      }
    })

    it("refuse filters that nothing can match, and name them", async () => {
      const invoices = `${control}/organizations/${api.tenant.organizationId}/invoices`
      const deliveries = `${control}/webhook-endpoints/${api.tenant.endpointId}/deliveries`
      const wrong: ReadonlyArray<readonly [string, string, string]> = [
        [invoices, "status", "status=done"],
        [invoices, "status", "status="],
        [invoices, "status", "status=Accepted"],
        [invoices, "status", "status=accepted,failed"],
        [invoices, "status", "status=accepted&status=failed"],
        [invoices, "mode", "mode=demo"],
        [invoices, "mode", "mode="],
        [invoices, "mode", "mode=test&mode=live"],
        [deliveries, "status", "status=accepted"],
        [deliveries, "status", "status="],
        [deliveries, "event_id", "event_id="],
        [deliveries, "event_id", "event_id=evt_a&event_id=evt_b"],
        [deliveries, "invoice_id", "invoice_id="],
        [deliveries, "invoice_id", "invoice_id=inv_a&invoice_id=inv_b"]
      ]
      for (const [path, param, query] of wrong) {
        const answer = await call("GET", `${path}?${query}`, { auth: api.tenant.token })
        assert.strictEqual(codeOf(answer), "invalid_parameter", query)
        assert.strictEqual(problemOf(answer).param, param)
      }
      for (const status of ["queued", "submitting", "retrying", "submitted", "accepted", "rejected", "failed"]) {
        assert.strictEqual((await call("GET", `${invoices}?status=${status}`, { auth: api.tenant.token })).status, 200)
      }
      for (const status of ["pending", "delivering", "succeeded", "retrying", "failed", "endpoint_disabled"]) {
        assert.strictEqual(
          (await call("GET", `${deliveries}?status=${status}`, { auth: api.tenant.token })).status,
          200
        )
      }
    })

    it("have 50 records without a limit", async () => {
      const reader = await signUp(call)
      await Promise.all(Array.from({ length: 51 }, () => submit(call, reader.testKey)))
      const path = `${control}/organizations/${reader.organizationId}/invoices`
      const first = await call("GET", path, { auth: reader.token })
      assert.lengthOf(data(first), 50)
      assert.isTrue(record(first)["has_more"])
      const rest = await call("GET", `${path}?cursor=${String(record(first)["next_cursor"])}`, { auth: reader.token })
      assert.lengthOf(data(rest), 1)
      assert.deepInclude(record(rest), { has_more: false, next_cursor: null })
    })

    it("refuse a cursor of another owner or filter, and a changed one", async () => {
      for (let time = 0; time < 3; time++) {
        for (const { testKey } of [api.tenant, api.other]) await submit(call, testKey)
      }
      const path = `${control}/organizations/${api.tenant.organizationId}/invoices`
      const cursor = String(record(await call("GET", `${path}?limit=1`, { auth: api.tenant.token }))["next_cursor"])
      const codes = [
        await call("GET", `${path}?limit=2&cursor=${cursor}`, { auth: api.tenant.token }),
        await call("GET", `${path}?cursor=${cursor}&mode=test`, { auth: api.tenant.token }),
        await call("GET", `${path}?cursor=${flip(cursor)}`, { auth: api.tenant.token }),
        await call("GET", `${path}?cursor=${cursor}A`, { auth: api.tenant.token }),
        await call("GET", `${path.replace(api.tenant.organizationId, api.other.organizationId)}?cursor=${cursor}`, {
          auth: api.other.token
        }),
        await call("GET", `${control}/organizations?cursor=${cursor}`, { auth: api.tenant.token })
      ].map(codeOf)
      assert.deepStrictEqual(codes, ["200", ...Array<string>(5).fill("invalid_parameter")])
    })
  })
}
