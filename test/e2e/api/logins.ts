/** Ending logins, and changing the password. */
import { assert, describe, it } from "vitest"
import { problemOf } from "../support/agreement.ts"
import { password, signUp, type Tenant } from "../support/client.ts"
import { type ApiSuite, codeOf, control, record } from "./suite.ts"

/** Registers the tests. */
export const testLogins = (api: ApiSuite): void => {
  const { call } = api
  const another = "another correct horse"

  const logIn = async ({ email }: Tenant, given = password) =>
    record(await call("POST", `${control}/auth/login`, { body: { email, password: given } })) as {
      readonly access_token: string
      readonly refresh_token: string
    }
  const account = async (auth: string) => codeOf(await call("GET", `${control}/account`, { auth }))
  const refresh = async (refresh_token: string) =>
    codeOf(await call("POST", `${control}/auth/refresh`, { body: { refresh_token } }))
  const change = (auth: string, current_password: string, new_password: string) =>
    call("PUT", `${control}/account/password`, { auth, body: { current_password, new_password } })

  describe("logins", () => {
    it("end in all sessions together, and those of others stay valid", async () => {
      const owner = await signUp(call)
      const elsewhere = await logIn(owner)
      const answer = await call("POST", `${control}/auth/logout-all`, { auth: owner.token, body: {} })
      assert.strictEqual(answer.status, 204)
      for (const token of [owner.token, elsewhere.access_token]) {
        assert.strictEqual(await account(token), "missing_access_token")
      }
      for (const token of [owner.refreshToken, elsewhere.refresh_token]) {
        assert.strictEqual(await refresh(token), "invalid_refresh_token")
      }
      assert.strictEqual(await account(api.tenant.token), "200")
      assert.strictEqual(await account((await logIn(owner)).access_token), "200")
    })

    it("end with a change of the password, except the session that changed it", async () => {
      const owner = await signUp(call)
      const elsewhere = await logIn(owner)
      assert.strictEqual((await change(owner.token, password, another)).status, 204)
      assert.strictEqual(await account(owner.token), "200")
      assert.strictEqual(await refresh(owner.refreshToken), "200")
      assert.strictEqual(await account(elsewhere.access_token), "missing_access_token")
      assert.strictEqual(await refresh(elsewhere.refresh_token), "invalid_refresh_token")
      assert.strictEqual(await account(api.tenant.token), "200")
      const old = await call("POST", `${control}/auth/login`, { body: { email: owner.email, password } })
      assert.strictEqual(codeOf(old), "invalid_credentials")
      assert.strictEqual(await account((await logIn(owner, another)).access_token), "200")
    })

    it("keep the password unless the current one is right and the new one is allowed", async () => {
      const owner = await signUp(call)
      const elsewhere = await logIn(owner)
      assert.strictEqual(codeOf(await change(owner.token, another, another)), "invalid_credentials")
      for (const wrong of ["short", "x".repeat(129)]) {
        const answer = await change(owner.token, password, wrong)
        assert.strictEqual(codeOf(answer), "invalid_parameter")
        assert.strictEqual(problemOf(answer).param, "new_password")
      }
      assert.strictEqual(await account(elsewhere.access_token), "200")
      assert.strictEqual(await account((await logIn(owner)).access_token), "200")
    })

    it("count wrong current passwords as failed logins", async () => {
      const owner = await signUp(call)
      const codes: Array<string> = []
      for (let time = 0; time < 21; time++) codes.push(codeOf(await change(owner.token, another, another)))
      assert.deepStrictEqual(codes, [...Array<string>(20).fill("invalid_credentials"), "rate_limit_exceeded"])
      assert.strictEqual(codeOf(await change(owner.token, password, another)), "rate_limit_exceeded")
      const login = await call("POST", `${control}/auth/login`, { body: { email: owner.email, password } })
      assert.strictEqual(codeOf(login), "rate_limit_exceeded")
    })
  })
}
