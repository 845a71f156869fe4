/** A login that keeps itself alive. */
import { assert, describe, it } from "vitest"
import { createControlPlane, isApiError } from "../src/index.ts"
import { json, problem, stub, type StubbedRequest } from "./support/stub.ts"

const baseUrl = "https://api.example.com"
const credentials = { email: "owner@example.com", password: "correct horse battery staple" }
const account = { id: "acct_1", object: "account", email: credentials.email, created_at: "2026-11-20T09:00:00.000Z" }

const tokens = (generation: number) =>
  json({
    access_token: `access-${generation}`,
    token_type: "Bearer",
    expires_in: 900,
    refresh_token: `refresh-${generation}`,
    refresh_expires_in: 2_592_000
  })

const refreshTokenOf = ({ body }: StubbedRequest): string =>
  (JSON.parse(body!) as { readonly refresh_token: string }).refresh_token

const isTo = ({ url }: StubbedRequest, action: string): boolean => url.endsWith(`/auth/${action}`)

/** A service that takes the newest access token only, and each refresh token once. */
const service = (
  refresh: (generation: number) => Response | Promise<Response> = (generation) => tokens(generation)
) => {
  let generation = 0
  const stubbed = stub(async (request) => {
    if (isTo(request, "login")) return tokens(++generation)
    if (isTo(request, "logout")) return new Response(null, { status: 204 })
    if (isTo(request, "refresh")) {
      await new Promise((resolve) => setTimeout(resolve, 20))
      const isCurrent = refreshTokenOf(request) === `refresh-${generation}`
      return isCurrent ? refresh(++generation) : problem(401, "invalid_refresh_token")
    }
    const isCurrent = request.headers["authorization"] === `Bearer access-${generation}`
    return isCurrent ? json(account) : problem(401, "missing_access_token")
  })
  return {
    ...stubbed,
    expire: () => void generation++,
    lose: () => void (generation += 10),
    count: (action: string) => stubbed.requests.filter((request) => isTo(request, action)).length
  }
}

// The refresh token stays good when the access token runs out.
const expiring = () => {
  let isStale = false
  let generation = 0
  const stubbed = stub(async (request) => {
    if (isTo(request, "login")) return tokens(++generation)
    if (isTo(request, "refresh")) {
      await new Promise((resolve) => setTimeout(resolve, 20))
      if (refreshTokenOf(request) !== `refresh-${generation}`) return problem(401, "invalid_refresh_token")
      isStale = false
      return tokens(++generation)
    }
    if (isTo(request, "logout")) return new Response(null, { status: 204 })
    const isGood = !isStale && request.headers["authorization"] === `Bearer access-${generation}`
    return isGood ? json(account) : problem(401, "missing_access_token")
  })
  return {
    ...stubbed,
    expire: () => {
      isStale = true
    },
    count: (action: string) => stubbed.requests.filter((request) => isTo(request, action)).length
  }
}

describe("a session", () => {
  it("sends no credential before a login, and the access token after", async () => {
    const { fetch, requests } = expiring()
    const controlPlane = createControlPlane({ baseUrl, fetch })
    const error = await controlPlane.accounts.get().catch((error: unknown) => error)
    assert.isTrue(isApiError(error, "missing_access_token"))
    await controlPlane.login(credentials)
    await controlPlane.accounts.get()
    assert.deepStrictEqual(
      requests.map(({ headers }) => headers["authorization"]),
      [undefined, undefined, "Bearer access-1"]
    )
  })

  it("renews the access token once for any number of calls, and each of them succeeds", async () => {
    const { count, expire, fetch } = expiring()
    const controlPlane = createControlPlane({ baseUrl, fetch })
    await controlPlane.login(credentials)
    for (let round = 1; round <= 3; round++) {
      expire()
      const found = await Promise.all(Array.from({ length: 20 }, () => controlPlane.accounts.get()))
      assert.isTrue(found.every(({ email }) => email === credentials.email))
      assert.strictEqual(count("refresh"), round)
    }
  })

  it("does not try for ever when even a new token is refused", async () => {
    const { count, fetch } = service(() => tokens(99))
    const controlPlane = createControlPlane({ baseUrl, fetch })
    await controlPlane.login(credentials)
    const refused = stub(({ url }) =>
      url.endsWith("/login") || url.endsWith("/refresh") ? tokens(1) : problem(401, "missing_access_token")
    )
    const stranger = createControlPlane({ baseUrl, fetch: refused.fetch })
    await stranger.login(credentials)
    const error = await stranger.accounts.get().catch((error: unknown) => error)
    assert.isTrue(isApiError(error, "missing_access_token"))
    assert.strictEqual(refused.requests.length, 4)
    assert.strictEqual(count("refresh"), 0)
  })

  it("says that the refresh token is spent, to all that wait", async () => {
    const { expire, fetch } = service()
    const controlPlane = createControlPlane({ baseUrl, fetch })
    await controlPlane.login(credentials)
    expire()
    const errors = await Promise.all([1, 2, 3].map(() => controlPlane.accounts.get().catch((error: unknown) => error)))
    assert.isTrue(errors.every((error) => isApiError(error, "invalid_refresh_token")))
    await controlPlane.login(credentials)
    assert.strictEqual((await controlPlane.accounts.get()).email, credentials.email)
  })

  it("gives the others the new token when the one that began the refresh gives up", async () => {
    const { count, expire, fetch } = expiring()
    const controlPlane = createControlPlane({ baseUrl, fetch })
    await controlPlane.login(credentials)
    expire()
    const stopping = new AbortController()
    const first = controlPlane.accounts.get({ signal: stopping.signal }).catch((error: { _tag: string }) => error._tag)
    const second = controlPlane.accounts.get()
    setTimeout(() => stopping.abort(), 5)
    assert.strictEqual(await first, "AbortedError")
    assert.strictEqual((await second).email, credentials.email)
    assert.strictEqual(count("refresh"), 1)
  })

  it("is not brought back by a refresh that ends after logging out", async () => {
    const { expire, fetch } = expiring()
    const controlPlane = createControlPlane({ baseUrl, fetch })
    await controlPlane.login(credentials)
    expire()
    const late = controlPlane.accounts.get().catch((error: unknown) => error)
    await new Promise((resolve) => setTimeout(resolve, 5))
    await controlPlane.logout()
    assert.isTrue(isApiError(await late, "missing_access_token"))
    assert.isTrue(
      isApiError(await controlPlane.accounts.get().catch((error: unknown) => error), "missing_access_token")
    )
  })

  it("stays when logging out has failed, so that it can be tried again", async () => {
    let isDown = true
    const { fetch, requests } = stub((request) =>
      isTo(request, "login")
        ? tokens(1)
        : isTo(request, "logout") && isDown
          ? problem(400, "malformed_request")
          : new Response(null, { status: 204 })
    )
    const controlPlane = createControlPlane({ baseUrl, fetch })
    await controlPlane.login(credentials)
    assert.isTrue(isApiError(await controlPlane.logout().catch((error: unknown) => error)))
    isDown = false
    await controlPlane.logout()
    await controlPlane.logout()
    assert.strictEqual(requests.filter((request) => isTo(request, "logout")).length, 2)
  })

  it("keeps its tokens and the password to itself", async () => {
    const seen: Array<unknown> = []
    const { expire, fetch } = expiring()
    const see = (info: unknown) => seen.push(info)
    const controlPlane = createControlPlane({ baseUrl, fetch, onRequest: see, onResponse: see, onRetry: see })
    await controlPlane.login(credentials)
    expire()
    await controlPlane.accounts.get()
    assert.notMatch(JSON.stringify([seen, controlPlane]), /access-|refresh-\d|battery/)
  })
})
