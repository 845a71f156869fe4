/** The console over HTTP: its sessions against forged and repeated requests, and deployments without it. */
import { request } from "node:http"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type Agreement, type Answer, problemOf } from "./support/agreement.ts"
import { makeCall, password, readAgreement, signUp, type Tenant } from "./support/client.ts"
import { openEmbedded, openMigrated } from "./support/databases.ts"
import { type Server, startServer } from "./support/server.ts"

type RequestHeaders = Readonly<Record<string, string>>

/** A request as a browser could send it, with any header. */
const send = (url: string, method: string, path: string, headers: RequestHeaders = {}, body?: string) =>
  new Promise<Answer & { readonly cookies: ReadonlyArray<string> }>((resolve, reject) => {
    const sent = request(`${url}${path}`, { method, headers }, (response) => {
      const chunks: Array<Buffer> = []
      response.on("data", (chunk: Buffer) => chunks.push(chunk))
      response.on("end", () => {
        const text = Buffer.concat(chunks).toString()
        const { "set-cookie": cookies = [], ...rest } = response.headers
        resolve({
          status: response.statusCode!,
          headers: new Headers(Object.entries(rest).map(([name, value]) => [name, String(value)])),
          text,
          json: text.startsWith("{") ? (JSON.parse(text) as unknown) : undefined,
          cookies
        })
      })
    })
    sent.once("error", reject)
    sent.end(body)
  })

const ofPage = { "content-type": "application/json", "sec-fetch-site": "same-origin" }
const cleared = "__Host-govoice=; Path=/; HttpOnly; Secure; SameSite=Strict; Max-Age=0"
const attributes = "; Path=/; HttpOnly; Secure; SameSite=Strict"

const codeOf = (answer: Answer): string => (answer.status < 400 ? String(answer.status) : problemOf(answer).code)
const valueOf = (cookie: string | undefined): string => cookie?.split(";")[0] ?? ""

describe("the sessions of the console", () => {
  let server: Server
  let agreement: Agreement
  let tenant: Tenant

  beforeAll(async () => {
    server = await startServer({ ...(await openEmbedded()).settings, GOVOICE_ROLE: "all" })
    agreement = await readAgreement(server.url)
    tenant = await signUp(makeCall(() => server.url, agreement))
  })
  afterAll(() => server?.stop())

  const post = (path: string, body: object, headers: RequestHeaders = {}) =>
    send(server.url, "POST", path, { ...ofPage, ...headers }, JSON.stringify(body))
  const logIn = async (remember?: boolean) => {
    const answer = await post("/console/session", { email: tenant.email, password, ...(remember && { remember }) })
    assert.strictEqual(answer.status, 200, answer.text)
    return valueOf(answer.cookies[0])
  }
  const refresh = (cookie: string, headers: RequestHeaders = {}) =>
    post("/console/session/refresh", {}, { ...headers, ...(cookie === "" ? {} : { cookie }) })
  const end = (cookie: string) =>
    send(server.url, "DELETE", "/console/session", { "sec-fetch-site": "same-origin", cookie })
  const account = (answer: Answer) =>
    makeCall(() => server.url, agreement)("GET", "/v1/control-plane/account", {
      auth: (answer.json as { readonly access_token: string }).access_token
    })

  it("begin with a login: an access token for the page, and a cookie that no script can read", async () => {
    for (const [remember, pattern, suffix] of [
      [undefined, /^__Host-govoice=s\.[0-9a-f-]{36}\.[\w-]{43}$/, ""],
      [false, /^__Host-govoice=s\./, ""],
      [true, /^__Host-govoice=p\./, "; Max-Age=2592000"]
    ] as const) {
      const body = { email: tenant.email, password, ...(remember === undefined ? {} : { remember }) }
      const answer = await post("/console/session", body)
      assert.strictEqual(answer.status, 200, answer.text)
      assert.hasAllKeys(answer.json as object, ["access_token", "token_type", "expires_in"])
      assert.deepInclude(answer.json as object, { token_type: "Bearer", expires_in: 900 })
      assert.lengthOf(answer.cookies, 1)
      assert.match(valueOf(answer.cookies[0]), pattern)
      assert.strictEqual(answer.cookies[0]!.slice(valueOf(answer.cookies[0]).length), attributes + suffix)
      assert.strictEqual(answer.headers.get("cache-control"), "no-store")
      assert.strictEqual(answer.headers.get("x-frame-options"), "DENY")
      assert.strictEqual((await account(answer)).status, 200)
    }
  })

  it("refuse a wrong password, and set no cookie", async () => {
    const answer = await post("/console/session", { email: tenant.email, password: "not the password" })
    assert.strictEqual(codeOf(answer), "invalid_credentials")
    assert.deepStrictEqual(answer.cookies, [])
    for (const body of [{}, { email: tenant.email }, { email: tenant.email, password, remember: "yes" }]) {
      assert.strictEqual(codeOf(await post("/console/session", body)), "invalid_parameter")
    }
    assert.strictEqual(codeOf(await post("/console/session", { email: "a", password, x: 1 })), "unknown_parameter")
  })

  it("rotate the cookie on each refresh, and keep whether it is remembered", async () => {
    for (const remember of [true, false]) {
      let cookie = await logIn(remember)
      for (let time = 0; time < 3; time++) {
        const answer = await refresh(cookie)
        assert.strictEqual(answer.status, 200, answer.text)
        assert.strictEqual((await account(answer)).status, 200)
        const next = valueOf(answer.cookies[0])
        assert.notStrictEqual(next, cookie)
        assert.strictEqual(answer.cookies[0]!.includes("Max-Age=2592000"), remember)
        cookie = next
      }
    }
  })

  it("answer a repeated refresh with the same successor", async () => {
    const cookie = await logIn()
    const answers = await Promise.all(Array.from({ length: 5 }, () => refresh(cookie)))
    assert.deepStrictEqual(
      answers.map(({ status }) => status),
      [200, 200, 200, 200, 200]
    )
    assert.strictEqual(new Set(answers.map(({ cookies }) => valueOf(cookies[0]))).size, 1)
    const later = await refresh(cookie)
    assert.strictEqual(valueOf(later.cookies[0]), valueOf(answers[0]!.cookies[0]))
    assert.strictEqual((await refresh(valueOf(later.cookies[0]))).status, 200)
  })

  it("end when a token comes again whose successor is spent", async () => {
    const first = await logIn()
    const second = await refresh(first)
    const third = await refresh(valueOf(second.cookies[0]))
    const stolen = await refresh(first)
    assert.strictEqual(codeOf(stolen), "invalid_refresh_token")
    assert.deepStrictEqual(stolen.cookies, [cleared])
    assert.strictEqual(codeOf(await refresh(valueOf(third.cookies[0]))), "invalid_refresh_token")
    assert.strictEqual((await account(third)).status, 401)
  })

  it("refuse a refresh without a usable cookie, and clear it", async () => {
    for (const cookie of ["", "__Host-govoice=", "__Host-govoice=s.x.y", `__Host-govoice=s.${"0".repeat(80)}`]) {
      const answer = await refresh(cookie)
      assert.strictEqual(codeOf(answer), "invalid_refresh_token")
      assert.deepStrictEqual(answer.cookies, [cleared])
    }
    const unknown = (await logIn()).replace(/.{6}$/, "AAAAAA")
    assert.strictEqual(codeOf(await refresh(unknown)), "invalid_refresh_token")
  })

  it("end with a logout, any number of times", async () => {
    const cookie = await logIn()
    const tokens = await refresh(cookie)
    const current = valueOf(tokens.cookies[0])
    for (let time = 0; time < 2; time++) {
      const answer = await end(current)
      assert.strictEqual(answer.status, 204)
      assert.deepStrictEqual(answer.cookies, [cleared])
    }
    assert.strictEqual((await account(tokens)).status, 401)
    assert.strictEqual(codeOf(await refresh(current)), "invalid_refresh_token")
    assert.strictEqual((await end("")).status, 204)
  })

  it("refuse requests of other sites, and change nothing", async () => {
    const cookie = await logIn()
    const json = { "content-type": "application/json", cookie }
    const forged: ReadonlyArray<RequestHeaders> = [
      json,
      { ...json, "sec-fetch-site": "cross-site" },
      { ...json, "sec-fetch-site": "same-site", origin: server.url },
      { ...json, "sec-fetch-site": "none" },
      { ...json, origin: "https://evil.example" },
      { ...json, origin: "null" },
      { ...json, origin: server.url.replace(/\d+$/, "1") },
      { "content-type": "application/x-www-form-urlencoded", cookie, "sec-fetch-site": "cross-site" }
    ]
    for (const headers of forged) {
      for (const [method, path] of [
        ["POST", "/console/session"],
        ["POST", "/console/session/refresh"],
        ["DELETE", "/console/session"]
      ] as const) {
        const answer = await send(server.url, method, path, headers, method === "POST" ? "{}" : undefined)
        assert.strictEqual(codeOf(answer), "cross_site_request", `${method} ${path} ${JSON.stringify(headers)}`)
        assert.deepStrictEqual(answer.cookies, [])
        assert.isNull(answer.headers.get("access-control-allow-origin"))
      }
    }
    for (const contentType of ["application/x-www-form-urlencoded", "text/plain", "multipart/form-data"]) {
      const answer = await refresh(cookie, { "content-type": contentType })
      assert.strictEqual(codeOf(answer), "unsupported_media_type")
    }
    const { "sec-fetch-site": _, ...withoutSite } = ofPage
    const byOrigin = await send(
      server.url,
      "POST",
      "/console/session/refresh",
      { ...withoutSite, origin: server.url, cookie },
      "{}"
    )
    assert.strictEqual(byOrigin.status, 200, "an older browser")
  })

  it("are refreshed 30 times a minute, each session for itself", async () => {
    let cookie = await logIn()
    const codes: Array<string> = []
    for (let time = 0; time < 32; time++) {
      const answer = await refresh(cookie)
      codes.push(codeOf(answer))
      if (answer.status === 200) cookie = valueOf(answer.cookies[0])
      else assert.isAtMost(Number(answer.headers.get("retry-after")), 60)
    }
    assert.deepStrictEqual(new Set(codes.slice(0, 30)), new Set(["200"]))
    assert.deepStrictEqual(codes.slice(30), ["rate_limit_exceeded", "rate_limit_exceeded"])
    assert.strictEqual((await refresh(await logIn())).status, 200)
  })

  it("are no credential of the API", async () => {
    const cookie = await logIn()
    for (const path of ["/v1/control-plane/account", "/v1/me"]) {
      const answer = await send(server.url, "GET", path, { cookie, "sec-fetch-site": "same-origin" })
      assert.strictEqual(answer.status, 401)
    }
    const answer = await send(
      server.url,
      "POST",
      "/v1/control-plane/auth/login",
      ofPage,
      JSON.stringify({
        email: tenant.email,
        password
      })
    )
    assert.strictEqual(answer.status, 200)
    assert.deepStrictEqual(answer.cookies, [])
  })

  it("have the methods of their paths", async () => {
    for (const [path, allow] of [
      ["/console", "GET, HEAD, OPTIONS"],
      ["/console/login", "GET, HEAD, OPTIONS"],
      ["/console/session", "DELETE, GET, HEAD, OPTIONS, POST"],
      ["/console/session/refresh", "GET, HEAD, OPTIONS, POST"]
    ] as const) {
      const options = await send(server.url, "OPTIONS", path)
      assert.strictEqual(options.status, 204)
      assert.strictEqual(options.headers.get("allow"), allow)
      assert.strictEqual(codeOf(await send(server.url, "PUT", path)), "method_not_allowed")
    }
  })

  it("are announced by the banner first, and by the root", async () => {
    const [head = "", first] = server.output().split("\n")
    assert.match(head, /^Govoice /)
    assert.strictEqual(first, `  Console    ${server.url}/console`)
    const root = await send(server.url, "GET", "/")
    assert.deepInclude(root.json as object, { console: "/console" })
  })
})

describe("a deployment", () => {
  it("without the console serves nothing below /console, and sets and reads no cookie", async () => {
    const database = await openMigrated()
    const server = await startServer({ ...database.settings, GOVOICE_CONSOLE: "off" })
    try {
      const body = JSON.stringify({ email: "a@example.com", password })
      for (const [method, path] of [
        ["GET", "/console"],
        ["GET", "/console/"],
        ["GET", "/console/config.json"],
        ["GET", "/console/login"],
        ["OPTIONS", "/console/session"],
        ["DELETE", "/console/session"],
        ["POST", "/console/session"],
        ["POST", "/console/session/refresh"]
      ] as const) {
        const cookie = `__Host-govoice=s.${"0".repeat(36)}.${"A".repeat(43)}`
        const answer = await send(server.url, method, path, { ...ofPage, cookie }, method === "POST" ? body : undefined)
        assert.strictEqual(codeOf(answer), "not_found", `${method} ${path}`)
        assert.deepStrictEqual(answer.cookies, [])
        assert.isNull(answer.headers.get("x-frame-options"))
      }
      assert.notInclude((await send(server.url, "GET", "/")).text, "console")
      assert.notInclude(server.output(), "Console")
    } finally {
      await server.stop()
      await database.drop()
    }
  })

  it("without the API serves the page, and answers api_disabled to sessions", async () => {
    const database = await openMigrated()
    const server = await startServer({ ...database.settings, GOVOICE_API_ENABLED: "false" })
    try {
      const config = await send(server.url, "GET", "/console/config.json")
      assert.deepInclude(config.json as object, { api_enabled: false })
      for (const path of ["/console/session", "/console/session/refresh"]) {
        assert.strictEqual(codeOf(await send(server.url, "POST", path, ofPage, "{}")), "api_disabled")
      }
      assert.strictEqual(codeOf(await send(server.url, "DELETE", "/console/session", ofPage)), "api_disabled")
    } finally {
      await server.stop()
      await database.drop()
    }
  })
})
