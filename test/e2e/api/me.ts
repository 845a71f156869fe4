/** `GET /v1/me`. */
import { assert, describe, it } from "vitest"
import { type ApiSuite, record, timestamp } from "./suite.ts"

/** Registers the tests. */
export const testMe = (api: ApiSuite): void => {
  const { call } = api

  describe("GET /v1/me", () => {
    it("shows the key and its organization, with exactly the members of the contract", async () => {
      const answer = await call("GET", "/v1/me", { auth: api.tenant.testKey })
      const { created_at, ...rest } = record(answer)
      assert.match(String(created_at), timestamp)
      assert.deepStrictEqual(rest, {
        object: "api_key",
        id: api.tenant.testKeyId,
        mode: "test",
        name: "integration",
        last4: api.tenant.testKey.slice(-4),
        organization: { id: api.tenant.organizationId, object: "organization", name: "Example" },
        live_mode_available: false
      })
    })

    it("shows the mode of a live key, although live mode is closed", async () => {
      const answer = await call("GET", "/v1/me", { auth: api.tenant.liveKey })
      assert.deepInclude(record(answer), { mode: "live", name: null, live_mode_available: false })
    })

    it("answers HEAD like GET, without a body", async () => {
      const answer = await call("HEAD", "/v1/me", { auth: api.tenant.testKey })
      assert.strictEqual(answer.status, 200)
      assert.strictEqual(answer.text, "")
      assert.isAbove(Number(answer.headers.get("content-length")), 0)
    })
  })
}
