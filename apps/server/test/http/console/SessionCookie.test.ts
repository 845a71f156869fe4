import { assert, describe, it } from "vitest"
import * as SessionCookie from "../../../src/http/console/SessionCookie.ts"
import * as OpaqueToken from "../../../src/crypto/OpaqueToken.ts"

const sessionId = "6f1c2a3e-9b1d-4c3f-8a55-0d8f5a1b2c3d"
const refreshToken = OpaqueToken.refreshToken()

describe("SessionCookie", () => {
  it("is kept for 30 days, or until the browser closes", () => {
    assert.strictEqual(
      SessionCookie.set({ remember: true, sessionId, refreshToken }),
      `__Host-govoice=p.${sessionId}.${refreshToken}; Path=/; HttpOnly; Secure; SameSite=Strict; Max-Age=2592000`
    )
    assert.strictEqual(
      SessionCookie.set({ remember: false, sessionId, refreshToken }),
      `__Host-govoice=s.${sessionId}.${refreshToken}; Path=/; HttpOnly; Secure; SameSite=Strict`
    )
    assert.strictEqual(SessionCookie.clear, "__Host-govoice=; Path=/; HttpOnly; Secure; SameSite=Strict; Max-Age=0")
  })

  it("is read among other cookies as it was set", () => {
    for (const remember of [true, false]) {
      const cookie = { remember, sessionId, refreshToken }
      const [pair = ""] = SessionCookie.set(cookie).split(";")
      assert.deepStrictEqual(SessionCookie.read(`a=b; ${pair};c="d"`), cookie)
    }
  })

  const value = `p.${sessionId}.${refreshToken}`
  it.each([
    undefined,
    "",
    "a=b",
    `govoice=${value}`,
    `x__Host-govoice=${value}`,
    "__Host-govoice=",
    `__Host-govoice=q.${sessionId}.${refreshToken}`,
    `__Host-govoice=${value}x`,
    `__Host-govoice="${value}"`,
    `__Host-govoice=${value}; __Host-govoice=${value}`
  ])("reads nothing from %j", (header) => assert.isUndefined(SessionCookie.read(header)))
})
