/** What owners read of invoices and deliveries with an access token. */
import { assert, describe, it } from "vitest"
import { signUp, submit, type Tenant, until } from "../support/client.ts"
import { type ApiSuite, codeOf, control, data, record } from "./suite.ts"

/** Registers the tests. */
export const testOwnerReads = (api: ApiSuite): void => {
  const { call } = api

  const addEndpoint = async ({ organizationId, token: auth }: Tenant, event_types: ReadonlyArray<string> = ["*"]) =>
    String(
      record(
        await call("POST", `${control}/organizations/${organizationId}/webhook-endpoints`, {
          auth,
          body: { url: "https://nowhere.invalid/", event_types }
        })
      )["id"]
    )

  describe("an owner", () => {
    it("reads an invoice of the organization and its receipt as its API key does", async () => {
      const owner = await signUp(call)
      const invoiceId = await api.accepted(owner.testKey)
      const path = `${control}/organizations/${owner.organizationId}/invoices/${invoiceId}`
      const invoice = await call("GET", path, { auth: owner.token })
      assert.deepStrictEqual(
        record(invoice),
        record(await call("GET", `/v1/invoices/${invoiceId}`, { auth: owner.testKey }))
      )
      const receipt = await call("GET", `${path}/upo`, { auth: owner.token })
      const same = await call("GET", `/v1/invoices/${invoiceId}/upo`, { auth: owner.testKey })
      assert.strictEqual(receipt.text, same.text)
      for (const name of ["content-type", "etag", "content-disposition"]) {
        assert.strictEqual(receipt.headers.get(name), same.headers.get(name), name)
      }
      const headers = { "if-none-match": receipt.headers.get("etag") ?? "" }
      assert.strictEqual((await call("GET", `${path}/upo`, { auth: owner.token, headers })).status, 304)
    })

    it("finds no invoice of another organization, not even of the same account", async () => {
      const owner = await signUp(call)
      const invoiceId = await api.accepted(owner.testKey)
      const second = record(
        await call("POST", `${control}/organizations`, { auth: owner.token, body: { name: "Second" } })
      )
      for (const [organization, id, auth, code] of [
        [String(second["id"]), invoiceId, owner.token, "invoice_not_found"],
        [owner.organizationId, "inv_x", owner.token, "invoice_not_found"],
        [owner.organizationId, invoiceId, api.other.token, "organization_not_found"],
        [api.other.organizationId, invoiceId, api.other.token, "invoice_not_found"]
      ] as const) {
        for (const suffix of ["", "/upo"]) {
          const answer = await call("GET", `${control}/organizations/${organization}/invoices/${id}${suffix}`, { auth })
          assert.strictEqual(codeOf(answer), code)
        }
      }
    })

    it("reads no receipt that there is not", async () => {
      const owner = await signUp(call)
      const headers = { "gov-sandbox-scenario": "delayed" }
      const { id } = record(await submit(call, owner.testKey, { headers }))
      const path = `${control}/organizations/${owner.organizationId}/invoices/${String(id)}/upo`
      assert.strictEqual(codeOf(await call("GET", path, { auth: owner.token })), "upo_not_available")
    })

    it("reads one delivery as its list shows it, and none of another endpoint", async () => {
      const owner = await signUp(call)
      const endpointId = await addEndpoint(owner, ["invoice.received"])
      await submit(call, owner.testKey)
      const path = `${control}/webhook-endpoints/${endpointId}/deliveries`
      const list = await until(
        () => call("GET", path, { auth: owner.token }),
        (answer) => data(answer)[0]?.["status"] === "retrying"
      )
      const [listed] = data(list)
      const id = String(listed?.["id"])
      assert.deepStrictEqual(record(await call("GET", `${path}/${id}`, { auth: owner.token })), listed)
      const ofAnother = `${control}/webhook-endpoints/${owner.endpointId}/deliveries/${id}`
      assert.strictEqual(codeOf(await call("GET", ofAnother, { auth: owner.token })), "webhook_delivery_not_found")
      assert.strictEqual(codeOf(await call("GET", `${path}/wd_x`, { auth: owner.token })), "webhook_delivery_not_found")
      const foreign = await call("GET", `${path}/${id}`, { auth: api.other.token })
      assert.strictEqual(codeOf(foreign), "webhook_endpoint_not_found")
    })
  })
}
