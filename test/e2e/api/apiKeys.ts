/** API keys. */
import { assert, describe, it } from "vitest"
import { problemOf } from "../support/agreement.ts"
import { type ApiSuite, codeOf, control, id, record, timestamp } from "./suite.ts"

/** Registers the tests. */
export const testApiKeys = (api: ApiSuite): void => {
  const { call } = api

  describe("API keys", () => {
    it("are returned once, with the members of the contract", async () => {
      const expires_at = new Date(Date.now() + 86_400_000).toISOString()
      const answer = await call("POST", `${control}/organizations/${api.tenant.organizationId}/api-keys`, {
        auth: api.tenant.token,
        body: { mode: "live", name: "till", expires_at }
      })
      const { created_at, id: keyId, secret, ...rest } = record(answer)
      assert.match(String(keyId), id("key"))
      assert.match(String(created_at), timestamp)
      assert.deepStrictEqual(rest, {
        object: "api_key",
        organization_id: api.tenant.organizationId,
        mode: "live",
        name: "till",
        last4: String(secret).slice(-4),
        expires_at
      })
    })

    it.each([
      ["no mode", {}, "mode"],
      ["another mode", { mode: "demo" }, "mode"],
      ["a name of 101 characters", { mode: "test", name: "n".repeat(101) }, "name"],
      ["an expiry in the past", { mode: "test", expires_at: "2020-01-01T00:00:00Z" }, "expires_at"],
      ["an expiry that is no date", { mode: "test", expires_at: "tomorrow" }, "expires_at"],
      ["an expiry on a day that does not exist", { mode: "test", expires_at: "2027-02-30T00:00:00Z" }, "expires_at"]
    ])("are not created with %s", async (_, body, param) => {
      const answer = await call("POST", `${control}/organizations/${api.tenant.organizationId}/api-keys`, {
        auth: api.tenant.token,
        body
      })
      assert.strictEqual(codeOf(answer), "invalid_parameter")
      assert.strictEqual(problemOf(answer).param, param)
    })
  })
}
