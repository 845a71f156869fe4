/** API keys and access tokens as credentials: valid, expired, revoked, forged. */
import { createHmac } from "node:crypto"
import { assert, describe, it } from "vitest"
import { type Tenant, until } from "../support/client.ts"
import { operationsOf, optionsOf } from "../support/operations.ts"
import { type ApiSuite, codeOf, control, data, record } from "./suite.ts"

const changed = (token: string): string => {
  const [header, claims = "", signature] = token.split(".")
  const parsed = JSON.parse(Buffer.from(claims, "base64url").toString()) as Record<string, unknown>
  return [header, encode({ ...parsed, exp: Number(parsed["exp"]) + 1 }), signature].join(".")
}

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url")

const forge = (token: string, header: object, secret: string): string => {
  const signed = `${encode(header)}.${token.split(".")[1] ?? ""}`
  return `${signed}.${createHmac("sha256", secret).update(signed).digest("base64url")}`
}

const flip = (text: string): string => {
  const index = Math.floor(text.length / 2)
  return `${text.slice(0, index)}${text[index] === "a" ? "b" : "a"}${text.slice(index + 1)}`
}

/** Registers the tests. */
export const testCredentials = (api: ApiSuite): void => {
  const { call } = api

  describe("credentials", () => {
    const refused: ReadonlyArray<readonly [string, (tenant: Tenant) => Record<string, string>]> = [
      ["none", () => ({})],
      ["an empty header", () => ({ authorization: "" })],
      ["a scheme alone", () => ({ authorization: "Bearer" })],
      ["another scheme", ({ testKey }) => ({ authorization: `Basic ${testKey}` })],
      ["a key that nobody has", () => ({ authorization: `Bearer sk_test_${"a".repeat(39)}` })],
      ["a key with a letter changed", ({ testKey }) => ({ authorization: `Bearer ${flip(testKey)}` })],
      [
        "a key of the other mode's prefix",
        ({ testKey }) => ({ authorization: `Bearer ${testKey.replace("test", "live")}` })
      ],
      ["a key in capitals", ({ testKey }) => ({ authorization: `Bearer ${testKey.toUpperCase()}` })],
      ["a key with something after it", ({ testKey }) => ({ authorization: `Bearer ${testKey} x` })],
      ["an access token", ({ token }) => ({ authorization: `Bearer ${token}` })],
      ["a key in another header", ({ testKey }) => ({ "x-api-key": testKey })]
    ]

    it.each(refused)("are missing_api_key for %s", async (_, headers) => {
      for (const path of [
        "/v1/me",
        "/v1/invoices",
        ...["", "/upo", "/document", "/pdf", "/qr"].map((file) => `/v1/invoices/inv_x${file}`)
      ]) {
        const answer = await call("GET", path, { headers: headers(api.tenant) })
        assert.strictEqual(codeOf(answer), "missing_api_key")
        assert.isNull(answer.headers.get("ratelimit"), "a key that was not recognized has no limit")
      }
      assert.strictEqual(
        codeOf(await call("POST", "/v1/invoices", { headers: headers(api.tenant) })),
        "missing_api_key"
      )
    })

    it("have a scheme in any letter case", async () => {
      const answer = await call("GET", "/v1/me", { headers: { authorization: `bEaReR ${api.tenant.testKey}` } })
      assert.strictEqual(answer.status, 200)
    })

    it("are keys of 33 random letters and digits with a checksum, whose last four characters are stored", async () => {
      const { organizationId, testKey, liveKey, token: auth } = api.tenant
      assert.match(testKey, /^sk_test_[0-9A-Za-z]{41}$/)
      assert.match(liveKey, /^sk_live_[0-9A-Za-z]{41}$/)
      const list = await call("GET", `${control}/organizations/${organizationId}/api-keys`, { auth })
      assert.sameMembers(
        data(list).map(({ last4 }) => last4),
        [testKey.slice(-4), liveKey.slice(-4)]
      )
      assert.notInclude(list.text, "secret")
    })

    it("are refused as soon as the key is revoked", async () => {
      const { organizationId, token: auth } = api.tenant
      const made = await call("POST", `${control}/organizations/${organizationId}/api-keys`, {
        auth,
        body: { mode: "test" }
      })
      const key = record(made)
      assert.strictEqual((await call("GET", "/v1/me", { auth: String(key["secret"]) })).status, 200)
      assert.strictEqual((await call("DELETE", `${control}/api-keys/${String(key["id"])}`, { auth })).status, 204)
      assert.strictEqual(codeOf(await call("GET", "/v1/me", { auth: String(key["secret"]) })), "missing_api_key")
      const again = await call("DELETE", `${control}/api-keys/${String(key["id"])}`, { auth })
      assert.strictEqual(codeOf(again), "api_key_not_found")
    })

    it("are refused when the key expires", async () => {
      const made = await call("POST", `${control}/organizations/${api.tenant.organizationId}/api-keys`, {
        auth: api.tenant.token,
        body: { mode: "test", expires_at: new Date(Date.now() + 1500).toISOString() }
      })
      const auth = String(record(made)["secret"])
      assert.strictEqual((await call("GET", "/v1/me", { auth })).status, 200)
      await until(
        () => call("GET", "/v1/me", { auth }),
        (answer) => codeOf(answer) === "missing_api_key",
        4000
      )
    })

    const tokens: ReadonlyArray<readonly [string, (token: string) => string]> = [
      ["one that is signed by somebody else", (token) => forge(token, { alg: "HS256", typ: "JWT" }, "another secret")],
      ["one without a signature", (token) => `${encode({ alg: "none" })}.${token.split(".")[1]}.`],
      ["one whose claims were changed", (token) => changed(token)],
      ["one that is cut off", (token) => token.slice(0, -3)],
      ["an API key", () => api.tenant.testKey],
      ["nonsense", () => "a.b.c"]
    ]

    it.each(tokens)("are missing_access_token for %s", async (_, make) => {
      const auth = make(api.tenant.token)
      for (const operation of operationsOf(api.tenant, "inv_x")) {
        if (operation.auth !== "token") continue
        const answer = await call(operation.method, operation.path, {
          ...optionsOf(operation, { key: auth, token: auth })
        })
        assert.strictEqual(codeOf(answer), "missing_access_token", operation.id)
      }
    })
  })
}
