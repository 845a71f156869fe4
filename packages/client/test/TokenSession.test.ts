/** Sessions of a caller that holds the access token itself. */
import { assert, describe, it } from "vitest"
import { createTokenSession, getAccount, isApiError } from "../src/index.ts"
import { json, problem, stub } from "./support/stub.ts"

const baseUrl = "https://api.example.com"
const account = { id: "acct_1", object: "account", email: "owner@example.com", created_at: "2026-11-20T09:00:00.000Z" }

/** A service that accepts one access token. */
const accepting = (token: string) =>
  stub(({ headers }) =>
    headers["authorization"] === `Bearer ${token}` ? json(account) : problem(401, "missing_access_token")
  )

const credentials = (requests: ReturnType<typeof stub>["requests"]) =>
  requests.map(({ headers }) => headers["authorization"])

const failure = (promise: Promise<unknown>): Promise<unknown> => promise.catch((error: unknown) => error)

describe("A session of a token", () => {
  it("sends the token that the caller holds at the time of the call", async () => {
    const { fetch, requests } = accepting("new")
    let token: string | undefined = "new"
    const session = createTokenSession({ baseUrl, fetch, accessToken: () => token, renew: async () => false })
    await getAccount(session)
    token = undefined
    assert.isTrue(isApiError(await failure(getAccount(session)), "missing_access_token"))
    assert.deepStrictEqual(credentials(requests), ["Bearer new", undefined])
  })

  it("renews a rejected token, and sends the call once more", async () => {
    const { fetch, requests } = accepting("new")
    let token = "old"
    let renewals = 0
    const renew = async () => {
      renewals++
      token = "new"
      return true
    }
    const session = createTokenSession({ baseUrl, fetch, accessToken: () => token, renew })
    assert.strictEqual((await getAccount(session)).id, "acct_1")
    assert.strictEqual(renewals, 1)
    assert.deepStrictEqual(credentials(requests), ["Bearer old", "Bearer new"])
  })

  it("does not renew a token that was replaced while the call was under way", async () => {
    let token = "old"
    const { fetch, requests } = stub(({ headers }) => {
      token = "new"
      return headers["authorization"] === "Bearer new" ? json(account) : problem(401, "missing_access_token")
    })
    const renew = () => Promise.reject(new Error("renewed"))
    await getAccount(createTokenSession({ baseUrl, fetch, accessToken: () => token, renew }))
    assert.deepStrictEqual(credentials(requests), ["Bearer old", "Bearer new"])
  })

  it("fails with the error of the call if there is no new token, or if that is rejected, too", async () => {
    for (const renewed of [false, true]) {
      const { fetch, requests } = accepting("nobody's")
      const session = createTokenSession({ baseUrl, fetch, accessToken: () => "old", renew: async () => renewed })
      assert.isTrue(isApiError(await failure(getAccount(session)), "missing_access_token"))
      assert.lengthOf(requests, renewed ? 2 : 1)
    }
  })

  it("does not renew the token after a 404", async () => {
    const { fetch } = stub(() => problem(404, "organization_not_found"))
    const renew = () => Promise.reject(new Error("renewed"))
    const session = createTokenSession({ baseUrl, fetch, accessToken: () => "old", renew })
    assert.isTrue(isApiError(await failure(getAccount(session)), "organization_not_found"))
  })
})
