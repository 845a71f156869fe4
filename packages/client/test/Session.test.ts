/** Sessions of the control plane, token refresh, and lists. */
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

/** A service whose access tokens expire on demand. A refresh token is valid once. */
const expiring = () => {
  let isStale = false
  let generation = 0
  const stubbed = stub(async (request) => {
    if (isTo(request, "login")) {
      isStale = false
      return tokens(++generation)
    }
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
    spend: () => {
      generation += 1
    },
    count: (action: string) => stubbed.requests.filter((request) => isTo(request, action)).length
  }
}

describe("A session", () => {
  it("sends the access token after a login, and no credential before", async () => {
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

  it("refreshes the access token once for concurrent calls, which all succeed", async () => {
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

  it("stops after the new token is rejected too", async () => {
    const { fetch, requests } = stub((request) =>
      isTo(request, "login") || isTo(request, "refresh") ? tokens(1) : problem(401, "missing_access_token")
    )
    const controlPlane = createControlPlane({ baseUrl, fetch })
    await controlPlane.login(credentials)
    const error = await controlPlane.accounts.get().catch((error: unknown) => error)
    assert.isTrue(isApiError(error, "missing_access_token"))
    assert.strictEqual(requests.length, 4)
  })

  it("fails all waiting calls if the refresh token is already used", async () => {
    const { expire, fetch, spend } = expiring()
    const controlPlane = createControlPlane({ baseUrl, fetch })
    await controlPlane.login(credentials)
    expire()
    spend()
    const errors = await Promise.all([1, 2, 3].map(() => controlPlane.accounts.get().catch((error: unknown) => error)))
    assert.isTrue(errors.every((error) => isApiError(error, "invalid_refresh_token")))
    await controlPlane.login(credentials)
    assert.strictEqual((await controlPlane.accounts.get()).email, credentials.email)
  })

  it("completes the refresh if the call that started it is aborted", async () => {
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

  it("does not refresh again for a call that was rejected with the previous token", async () => {
    let refreshes = 0
    const { fetch } = stub(async (request) => {
      if (isTo(request, "login")) return tokens(1)
      if (isTo(request, "refresh")) {
        refreshes += 1
        return tokens(2)
      }
      if (request.headers["authorization"] === "Bearer access-2") return json(account)
      // The second rejection arrives after the refresh.
      await new Promise((resolve) => setTimeout(resolve, request.url.includes("organizations") ? 60 : 0))
      return problem(401, "missing_access_token")
    })
    const controlPlane = createControlPlane({ baseUrl, fetch })
    await controlPlane.login(credentials)
    const late = controlPlane.organizations.get("org_1").catch((error: { _tag: string }) => error._tag)
    await controlPlane.accounts.get()
    // The stub answers with an account, so the authorized call fails to decode.
    assert.strictEqual(await late, "DecodeError")
    assert.strictEqual(refreshes, 1)
  })

  it("does not treat a 404 after a token refresh as a successful deletion", async () => {
    const { fetch } = stub((request) => {
      if (isTo(request, "login")) return tokens(1)
      if (isTo(request, "refresh")) return tokens(2)
      return request.headers["authorization"] === "Bearer access-2"
        ? problem(404, "api_key_not_found")
        : problem(401, "missing_access_token")
    })
    const controlPlane = createControlPlane({ baseUrl, fetch })
    await controlPlane.login(credentials)
    const error = await controlPlane.apiKeys.revoke("key_misspelled").catch((error: unknown) => error)
    assert.isTrue(isApiError(error, "api_key_not_found"))
  })

  it("fails with the error of the refresh and does not retry it again", async () => {
    const { fetch, requests } = stub((request) =>
      isTo(request, "login")
        ? tokens(1)
        : isTo(request, "refresh")
          ? problem(503, "service_unavailable", true)
          : problem(401, "missing_access_token")
    )
    const controlPlane = createControlPlane({ baseUrl, fetch, maxRetries: 1 })
    await controlPlane.login(credentials)
    const errors = await Promise.all([1, 2].map(() => controlPlane.accounts.get().catch((error: unknown) => error)))
    assert.isTrue(errors.every((error) => isApiError(error, "service_unavailable") && error.attempts === 2))
    assert.strictEqual(requests.filter((request) => isTo(request, "refresh")).length, 2)
  })

  it("stays logged out if a refresh completes after the logout", async () => {
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

  it("keeps the login if the logout fails, so that it can be retried", async () => {
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

  it("does not reveal tokens and password", async () => {
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

describe("A list", () => {
  const organization = (id: string) => ({
    id,
    object: "organization",
    name: id,
    gateway_credential: { present: false, updated_at: null },
    created_at: "2026-11-20T09:00:00.000Z"
  })
  const pages: Readonly<Record<string, [ReadonlyArray<string>, string | null]>> = {
    first: [["a", "b"], "second"],
    second: [[], "third"],
    third: [["c"], null]
  }
  const listed = () =>
    stub(({ url }) => {
      const [ids, next] = pages[new URL(url).searchParams.get("cursor") ?? "first"]!
      return json({ object: "list", data: ids.map(organization), has_more: next !== null, next_cursor: next })
    })

  it("requests all pages in each iteration", async () => {
    const { fetch, requests } = listed()
    const organizations = createControlPlane({ baseUrl, fetch }).organizations.list({ limit: 2 })
    assert.isEmpty(requests)
    for (const round of [1, 2]) {
      const ids: Array<string> = []
      for await (const { id } of organizations) ids.push(id)
      assert.deepStrictEqual(ids, ["a", "b", "c"])
      assert.strictEqual(requests.length, 3 * round)
    }
    assert.isTrue(requests.every(({ url }) => new URL(url).searchParams.get("limit") === "2"))
  })

  it("requests no page after the record at which an iteration ends", async () => {
    const { fetch, requests } = listed()
    for await (const { id } of createControlPlane({ baseUrl, fetch }).organizations.list()) {
      if (id === "b") break
    }
    assert.strictEqual(requests.length, 1)
  })

  it.each([
    { name: "a page that names itself as the next one", next: "same" },
    { name: "a page without a cursor that says it is not the last", next: null }
  ])("ends with an error at $name", async ({ next }) => {
    const body = { object: "list", data: [organization("a")], has_more: true, next_cursor: next }
    const { fetch, requests } = stub(() => json(body))
    const error = await (async () => {
      for await (const _ of createControlPlane({ baseUrl, fetch }).organizations.list());
    })().catch((error: unknown) => error)
    assert.match(String(error), /The list does not continue/)
    assert.isAtMost(requests.length, 2)
  })

  it("requests one page by its cursor with page()", async () => {
    const { fetch, requests } = listed()
    const organizations = createControlPlane({ baseUrl, fetch }).organizations.list()
    const { data, hasMore, nextCursor } = await organizations.page("third")
    assert.deepStrictEqual([data.length, hasMore, nextCursor, requests.length], [1, false, null, 1])
  })

  it("sends filters in snake_case, and no call options", async () => {
    const { fetch, requests } = stub(() => json({ object: "list", data: [], has_more: false, next_cursor: null }))
    const { signal } = new AbortController()
    const filters = { eventId: "evt_1", status: undefined, limit: 5, signal, timeoutMs: 1000, deadlineMs: 2000 }
    await createControlPlane({ baseUrl, fetch }).deliveries.list("we_1", filters).page()
    assert.deepStrictEqual(Object.fromEntries(new URL(requests[0]!.url).searchParams), {
      event_id: "evt_1",
      limit: "5"
    })
  })
})
