import { assert, describe, it } from "vitest"
import { Client, codes } from "../support/Client.ts"
import { manualTime, start } from "../support/simulator.ts"

const minute = 60_000

const wrong = (detail: string) => ({
  code: 450,
  description: "Uwierzytelnianie zakończone niepowodzeniem z powodu błędnego tokenu",
  details: [detail]
})

describe("login with a token", () => {
  it("logs in with a token and the time of its challenge, and returns tokens once", async () => {
    const simulator = await start()
    const client = new Client(simulator)
    await client.beginTokenLogin(simulator.token, simulator.nip)
    assert.deepStrictEqual(await client.loginStatus(), {
      code: 200,
      description: "Uwierzytelnianie zakończone sukcesem"
    })
    assert.strictEqual((await client.redeem()).status, 200)
    assert.deepStrictEqual(codes(await client.redeem()), [21301])
    assert.strictEqual((await client.call("GET", "/rate-limits")).status, 200)
  })

  it("is in progress at first", async () => {
    const time = manualTime()
    const simulator = await start({ processingMs: 500, now: time.now })
    const client = new Client(simulator)
    await client.beginTokenLogin(simulator.token, simulator.nip)
    const status = async () =>
      (await client.call("GET", `/auth/${client.login}`, { token: client.authentication })).json.status.code
    assert.strictEqual(await status(), 100)
    assert.deepStrictEqual(codes(await client.redeem()), [21301])
    time.move(500)
    assert.strictEqual(await status(), 200)
  })

  it.each<[string, Parameters<Client["beginTokenLogin"]>[2], (token: string) => string, string]>([
    ["the time of another challenge", { time: (ms) => ms + 1 }, (token) => token, "Nieprawidłowy czas tokena"],
    [
      "a rounded time",
      { time: (ms) => Math.ceil((ms + 0.5) / 1000) * 1000 },
      (token) => token,
      "Nieprawidłowy czas tokena"
    ],
    ["an unknown token", {}, (token) => `${token.slice(0, -1)}x`, "Nieprawidłowy token"]
  ])("%s ends as 450", async (_, changes, token, detail) => {
    const simulator = await start({ now: manualTime(Date.UTC(2026, 10, 22, 10, 0, 0, 123)).now })
    const client = new Client(simulator)
    await client.beginTokenLogin(token(simulator.token), simulator.nip, changes)
    assert.deepStrictEqual(await client.loginStatus(), wrong(detail))
    assert.deepStrictEqual(codes(await client.redeem()), [21301])
  })

  it("a token of another context ends as 450 and names the context", async () => {
    const simulator = await start()
    const client = new Client(simulator)
    await client.beginTokenLogin(simulator.token, "5260250274")
    assert.deepStrictEqual(await client.loginStatus(), wrong("Token nie może być użyty w kontekście 5260250274"))
  })

  it("a token that is not encrypted for the key of tokens ends as 450", async () => {
    const simulator = await start()
    const client = new Client(simulator)
    const challenge = (await client.call("POST", "/auth/challenge")).json
    const plain = Buffer.from(`${simulator.token}|${challenge.timestampMs}`)
    const wrapped = await client.wrap("SymmetricKeyEncryption", plain)
    const body = {
      challenge: challenge.challenge,
      contextIdentifier: { type: "Nip", value: simulator.nip },
      encryptedToken: wrapped.text
    }
    const answer = await client.call("POST", "/auth/ksef-token", { body })
    client.login = answer.json.referenceNumber
    client.authentication = answer.json.authenticationToken.token
    assert.deepStrictEqual(await client.loginStatus(), wrong("Nieprawidłowe szyfrowanie tokena"))
  })

  it("a token without a separator ends as 450", async () => {
    const simulator = await start()
    const client = new Client(simulator)
    const challenge = (await client.call("POST", "/auth/challenge")).json
    const { id, text } = await client.wrap("KsefTokenEncryption", Buffer.from("no separator"))
    const answer = await client.call("POST", "/auth/ksef-token", {
      body: {
        challenge: challenge.challenge,
        contextIdentifier: { type: "Nip", value: simulator.nip },
        encryptedToken: text,
        publicKeyId: id
      }
    })
    client.login = answer.json.referenceNumber
    client.authentication = answer.json.authenticationToken.token
    assert.deepStrictEqual(await client.loginStatus(), wrong("Nieprawidłowe kodowanie tokena"))
  })

  it("accepts a challenge once, and for ten minutes", async () => {
    const time = manualTime()
    const simulator = await start({ now: time.now })
    const client = new Client(simulator)
    const login = async (challenge: { readonly challenge: string; readonly timestampMs: number }) => {
      const plain = Buffer.from(`${simulator.token}|${challenge.timestampMs}`)
      const { id, text } = await client.wrap("KsefTokenEncryption", plain)
      const contextIdentifier = { type: "Nip", value: simulator.nip }
      const body = { challenge: challenge.challenge, contextIdentifier, encryptedToken: text, publicKeyId: id }
      return client.call("POST", "/auth/ksef-token", { body })
    }
    const first = (await client.call("POST", "/auth/challenge")).json
    assert.strictEqual((await login(first)).status, 202)
    assert.deepStrictEqual(codes(await login(first)), [21111])
    const second = (await client.call("POST", "/auth/challenge")).json
    time.move(10 * minute)
    assert.deepStrictEqual(codes(await login(second)), [21111])
    assert.deepStrictEqual(codes(await login({ challenge: "x".repeat(36), timestampMs: 1 })), [21111])
  })

  it("refuses an unknown key id with 21470", async () => {
    const simulator = await start()
    const client = new Client(simulator)
    const challenge = (await client.call("POST", "/auth/challenge")).json
    const answer = await client.call("POST", "/auth/ksef-token", {
      body: {
        challenge: challenge.challenge,
        contextIdentifier: { type: "Nip", value: simulator.nip },
        encryptedToken: "AAAA",
        publicKeyId: Buffer.alloc(32).toString("base64")
      }
    })
    assert.deepStrictEqual(codes(answer), [21470])
  })

  it("a token without permissions ends as 415, a blocked context as 480", async () => {
    const simulator = await start()
    const client = new Client(simulator)
    await client.beginTokenLogin(simulator.issueToken({ context: simulator.nip, permissions: [] }), simulator.nip)
    assert.strictEqual((await client.loginStatus()).code, 415)
    const contextIdentifier = { type: "Nip", value: simulator.nip }
    await client.call("POST", "/testdata/context/block", { body: { contextIdentifier } })
    await client.beginTokenLogin(simulator.token, simulator.nip)
    assert.strictEqual((await client.loginStatus()).code, 480)
    await client.call("POST", "/testdata/context/unblock", { body: { contextIdentifier } })
    await client.beginTokenLogin(simulator.token, simulator.nip)
    assert.strictEqual((await client.loginStatus()).code, 200)
  })
})

describe("the tokens of a login", () => {
  it("are for their own operations: another type is a 403 with an empty body", async () => {
    const simulator = await start()
    const client = await Client.login(simulator)
    for (const [method, path, token] of [
      ["GET", "/sessions?sessionType=Online", client.refresh],
      ["GET", "/sessions?sessionType=Online", client.authentication],
      ["POST", "/auth/token/refresh", client.access],
      ["GET", `/auth/${client.login}`, client.access]
    ] as const) {
      const answer = await client.call(method, path, { token })
      assert.deepStrictEqual([answer.status, answer.text], [403, ""], path)
    }
  })

  it("that are missing, broken or forged are a 401 with problem details", async () => {
    const simulator = await start()
    const client = await Client.login(simulator)
    const [header, payload] = client.access.split(".")
    for (const token of ["", "x", "a.b.c", `${header}.${payload}.`, `${header}.${payload}.AAAA`]) {
      const answer = await client.call("GET", "/rate-limits", { token })
      assert.strictEqual(answer.status, 401, token)
      assert.strictEqual(answer.json.title, "Unauthorized")
    }
  })

  it("are valid for 15 minutes (access) and seven days (refresh); an expired refresh token is a 400", async () => {
    const time = manualTime()
    const simulator = await start({ now: time.now })
    const client = await Client.login(simulator)
    time.move(15 * minute - 1)
    assert.strictEqual((await client.call("GET", "/rate-limits")).status, 200)
    time.move(1)
    assert.strictEqual((await client.call("GET", "/rate-limits")).status, 401)
    const refreshed = await client.call("POST", "/auth/token/refresh", { token: client.refresh })
    assert.strictEqual(Date.parse(refreshed.json.accessToken.validUntil), time.now() + 15 * minute)
    client.access = refreshed.json.accessToken.token
    assert.strictEqual((await client.call("GET", "/rate-limits")).status, 200)
    time.move(7 * 24 * 60 * minute)
    assert.deepStrictEqual(codes(await client.call("POST", "/auth/token/refresh", { token: client.refresh })), [21301])
  })

  it("have shorter lifetimes with a speed", async () => {
    const time = manualTime()
    const simulator = await start({ now: time.now, speed: 60 })
    const client = await Client.login(simulator)
    time.move(15_000)
    assert.strictEqual((await client.call("GET", "/rate-limits")).status, 401)
  })

  it("cannot be refreshed after the login was revoked, while its access tokens stay valid", async () => {
    const simulator = await start()
    const client = await Client.login(simulator)
    assert.strictEqual((await client.call("DELETE", "/auth/sessions/current", { token: client.refresh })).status, 204)
    assert.deepStrictEqual(codes(await client.call("POST", "/auth/token/refresh", { token: client.refresh })), [21301])
    assert.strictEqual((await client.call("GET", "/rate-limits")).status, 200)
    const status = await client.call("GET", `/auth/${client.login}`, { token: client.authentication })
    assert.strictEqual(status.json.status.code, 425)
  })

  it("belong to logins that are listed by context and revoked by reference", async () => {
    const simulator = await start()
    const client = await Client.login(simulator)
    const other = await Client.login(simulator)
    const stranger = await Client.login(simulator, simulator.issueToken({ context: "5260250274" }), "5260250274")
    const listed = await client.call("GET", "/auth/sessions")
    assert.sameMembers(
      listed.json.items.map(({ referenceNumber }) => referenceNumber),
      [client.login, other.login]
    )
    assert.strictEqual(listed.json.items.find(({ isCurrent }) => isCurrent)?.referenceNumber, client.login)
    assert.strictEqual((await client.call("DELETE", `/auth/sessions/${stranger.login}`)).status, 400)
    assert.strictEqual((await client.call("DELETE", `/auth/sessions/${other.login}`)).status, 204)
    assert.deepStrictEqual(codes(await other.call("POST", "/auth/token/refresh", { token: other.refresh })), [21301])
  })

  it("are refused from another address if they are bound to addresses", async () => {
    const simulator = await start()
    const client = new Client(simulator)
    const policy = { allowedIps: { ip4Addresses: ["10.0.0.1"], ip4Ranges: [], ip4Masks: ["192.168.0.0/16"] } }
    await client.beginTokenLogin(simulator.token, simulator.nip, { policy })
    await client.loginStatus()
    await client.redeem()
    const refused = await client.call("GET", "/rate-limits")
    assert.strictEqual(refused.status, 403)
    assert.strictEqual(refused.json.reasonCode, "ip-not-allowed")
    assert.deepStrictEqual(refused.json.security, { clientIp: "127.0.0.1" })
    const allowed = { allowedIps: { ip4Ranges: ["127.0.0.0-127.0.0.255"] } }
    await client.beginTokenLogin(simulator.token, simulator.nip, { policy: allowed })
    await client.loginStatus()
    await client.redeem()
    assert.strictEqual((await client.call("GET", "/rate-limits")).status, 200)
  })
})

describe("errors", () => {
  it("have two formats: the older exception, and problem details on request", async () => {
    const simulator = await start()
    const client = await Client.login(simulator)
    const older = await client.redeem()
    assert.strictEqual(older.headers.get("content-type"), "application/json")
    assert.strictEqual(older.json.exception?.exceptionDetailList[0]?.exceptionCode, 21301)
    client.headers["x-error-format"] = "problem-details"
    const newer = await client.redeem()
    assert.strictEqual(newer.headers.get("content-type"), "application/problem+json")
    assert.strictEqual(newer.json.errors?.[0]?.code, 21301)
  })

  it("name an operation that the simulator does not implement, with 501", async () => {
    const simulator = await start()
    const answer = await new Client(simulator).call("POST", "/invoices/query/metadata", { body: {} })
    assert.strictEqual(answer.status, 501)
    assert.include(answer.json.detail, "The simulator does not carry out POST /invoices/query/metadata.")
  })

  it("are a 404 or a 405 for a path or method that the document does not have", async () => {
    const simulator = await start()
    const client = new Client(simulator)
    assert.strictEqual((await client.call("GET", "/nothing")).status, 404)
    assert.strictEqual((await client.call("PATCH", "/sessions")).status, 405)
  })
})
