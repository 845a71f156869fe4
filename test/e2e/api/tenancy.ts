/** Tenancy: records of another account or mode do not exist. */
import { assert, describe, it } from "vitest"
import { signUp } from "../support/client.ts"
import { operationsOf, optionsOf } from "../support/operations.ts"
import { type ApiSuite, codeOf, control, data } from "./suite.ts"

/** Registers the tests. */
export const testTenancy = (api: ApiSuite): void => {
  const { accepted, call } = api

  describe("tenancy", () => {
    it("hides every record from other accounts, which can change none", async () => {
      const victim = await signUp(call)
      const invoiceId = await accepted(victim.testKey)
      const snapshot = async () =>
        Promise.all(
          operationsOf(victim, invoiceId)
            .filter(({ id, method, needsRecord }) => method === "GET" && id !== "organizations.list" && !needsRecord)
            .map(async (operation) => {
              const answer = await call(
                "GET",
                operation.path,
                optionsOf(operation, { key: victim.testKey, token: victim.token })
              )
              return [operation.id, answer.status, answer.text]
            })
        )
      const before = await snapshot()
      let walked = 0
      for (const operation of operationsOf(victim, invoiceId)) {
        if (operation.absent === undefined) continue
        walked++
        const options = optionsOf(operation, { key: api.other.testKey, token: api.other.token })
        const answer = await call(operation.method, operation.path, options)
        assert.strictEqual(codeOf(answer), operation.absent, operation.id)
        assert.notInclude(answer.text, victim.organizationId)
      }
      assert.strictEqual(walked, 34)
      for (const file of ["", "/upo", "/document", "/qr"]) {
        const path = `/v1/invoices/${invoiceId}${file}`
        const answer = await call("GET", path, { auth: victim.liveKey })
        assert.strictEqual(codeOf(answer), "invoice_not_found", "the other mode is somebody else")
      }
      assert.deepStrictEqual(await snapshot(), before)
    })

    it("lists no organizations of other accounts", async () => {
      const ids = data(await call("GET", `${control}/organizations?limit=100`, { auth: api.other.token })).map(
        ({ id }) => id
      )
      assert.include(ids, api.other.organizationId)
      assert.notInclude(ids, api.tenant.organizationId)
    })
  })
}
