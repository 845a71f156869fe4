/** Accounts, logins, refreshes and logouts. */
import { randomUUID } from "node:crypto"
import { assert, describe, it } from "vitest"
import { type Answer, problemOf } from "../support/agreement.ts"
import { password } from "../support/client.ts"
import { type ApiSuite, codeOf, control, id, record, timestamp } from "./suite.ts"

/** Registers the tests. */
export const testAccounts = (api: ApiSuite): void => {
  const { call } = api

  describe("accounts and logins", () => {
    const login = (email: string, given = password) =>
      call("POST", `${control}/auth/login`, { body: { email, password: given } })
    const refresh = (refresh_token: unknown) => call("POST", `${control}/auth/refresh`, { body: { refresh_token } })

    it("create an account with exactly the members of the contract, the email in lower case", async () => {
      const email = `Somebody-${randomUUID()}@Example.com`
      const answer = await call("POST", `${control}/accounts`, { body: { email, password } })
      const { created_at, id: accountId, ...rest } = record(answer)
      assert.strictEqual(answer.status, 201)
      assert.match(String(accountId), id("acct"))
      assert.match(String(created_at), timestamp)
      assert.deepStrictEqual(rest, { object: "account", email: email.toLowerCase() })
      const taken = await call("POST", `${control}/accounts`, { body: { email: email.toUpperCase(), password } })
      assert.strictEqual(codeOf(taken), "email_taken")
      assert.strictEqual((await login(email.toUpperCase())).status, 200)
    })

    it("create one account for ten concurrent requests with the same email", async () => {
      const email = `rush-${randomUUID()}@example.com`
      const answers = await Promise.all(
        Array.from({ length: 10 }, () => call("POST", `${control}/accounts`, { body: { email, password } }))
      )
      assert.deepStrictEqual(answers.map(codeOf).sort(), ["201", ...Array<string>(9).fill("email_taken")])
    })

    it.each([
      ["a password of 11 characters", { email: "a@example.com", password: "p".repeat(11) }, "password"],
      ["a password of 129 characters", { email: "a@example.com", password: "p".repeat(129) }, "password"],
      ["an email without an at", { email: "example.com", password }, "email"],
      ["an email with a NUL", { email: "a\u0000@example.com", password }, "email"],
      ["no email", { password }, "email"],
      ["a password that is a number", { email: "a@example.com", password: 123_456_789_012 }, "password"]
    ])("refuse an account with %s", async (_, body, param) => {
      const answer = await call("POST", `${control}/accounts`, { body })
      assert.strictEqual(codeOf(answer), "invalid_parameter")
      assert.strictEqual(problemOf(answer).param, param)
      assert.notInclude(answer.text, "p".repeat(11))
    })

    it("answer a login with exactly the members of the contract", async () => {
      const { access_token, refresh_token, ...rest } = record(await login(api.tenant.email))
      assert.deepStrictEqual(rest, { token_type: "Bearer", expires_in: 900, refresh_expires_in: 2_592_000 })
      assert.match(String(refresh_token), /^[A-Za-z0-9_-]{43}$/)
      const [header, claims] = String(access_token)
        .split(".")
        .slice(0, 2)
        .map((part) => JSON.parse(Buffer.from(part, "base64url").toString()) as Record<string, unknown>)
      assert.strictEqual(header?.["alg"], "HS256")
      assert.strictEqual(claims?.["sub"], api.tenant.accountId)
      assert.strictEqual(Number(claims?.["exp"]) - Number(claims?.["iat"]), 900)
      for (const name of ["iss", "aud", "jti"]) assert.isString(claims?.[name])
    })

    it("answer the same to a wrong password and to an unknown email", async () => {
      const wrong = await login(api.tenant.email, "not the password at all")
      const nobody = await login(`nobody-${randomUUID()}@example.com`)
      const bare = (answer: Answer) => ({ ...problemOf(answer), request_id: "" })
      assert.strictEqual(codeOf(wrong), "invalid_credentials")
      assert.deepStrictEqual(bare(nobody), bare(wrong))
    })

    it("show the account of the token", async () => {
      const answer = await call("GET", `${control}/account`, { auth: api.tenant.token })
      assert.deepInclude(record(answer), { id: api.tenant.accountId, object: "account", email: api.tenant.email })
    })

    it("rotate refresh tokens: each is accepted once, and the new access token works", async () => {
      const first = record(await login(api.tenant.email))
      const second = record(await refresh(first["refresh_token"]))
      assert.notStrictEqual(second["refresh_token"], first["refresh_token"])
      assert.sameMembers(Object.keys(second), Object.keys(first))
      const auth = String(second["access_token"])
      assert.strictEqual((await call("GET", `${control}/account`, { auth })).status, 200)
    })

    it("end the session with its access tokens when a spent refresh token is used again", async () => {
      const first = record(await login(api.tenant.email))
      const second = record(await refresh(first["refresh_token"]))
      const bystander = record(await login(api.tenant.email))
      assert.strictEqual(codeOf(await refresh(first["refresh_token"])), "invalid_refresh_token")
      assert.strictEqual(codeOf(await refresh(second["refresh_token"])), "invalid_refresh_token")
      for (const { access_token } of [first, second] as ReadonlyArray<Record<string, unknown>>) {
        const answer = await call("GET", `${control}/account`, { auth: String(access_token) })
        assert.strictEqual(codeOf(answer), "missing_access_token")
      }
      assert.strictEqual((await refresh(bystander["refresh_token"])).status, 200, "another login goes on")
    })

    it("return the new token to one of ten concurrent refreshes", async () => {
      const first = record(await login(api.tenant.email))
      const answers = await Promise.all(Array.from({ length: 10 }, () => refresh(first["refresh_token"])))
      assert.isAtMost(answers.filter(({ status }) => status === 200).length, 1)
      assert.isAtLeast(answers.filter((answer) => codeOf(answer) === "invalid_refresh_token").length, 9)
    })

    it.each(["", "x", "\u0000", "a".repeat(512)])("refuse the refresh token %j", async (token) => {
      assert.include(["invalid_refresh_token", "invalid_parameter"], codeOf(await refresh(token)))
    })

    it("log out with the refresh token only, any number of times", async () => {
      const session = record(await login(api.tenant.email))
      const body = { refresh_token: session["refresh_token"] }
      for (let time = 0; time < 2; time++) {
        assert.strictEqual((await call("POST", `${control}/auth/logout`, { body })).status, 204)
      }
      const answer = await call("GET", `${control}/account`, { auth: String(session["access_token"]) })
      assert.strictEqual(codeOf(answer), "missing_access_token")
      assert.strictEqual(codeOf(await refresh(session["refresh_token"])), "invalid_refresh_token")
      const unknown = await call("POST", `${control}/auth/logout`, { body: { refresh_token: "of nobody" } })
      assert.strictEqual(unknown.status, 204)
    })
  })
}
