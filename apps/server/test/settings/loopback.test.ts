import { assert, describe, it } from "vitest"
import { isLoopback } from "../../src/settings/loopback.ts"

describe("isLoopback", () => {
  it.each(["localhost", "LOCALHOST", "127.0.0.1", "127.8.9.10", "::1", new URL("smtp://[::1]:25").hostname])(
    "knows %s as this machine",
    (host) => assert.isTrue(isLoopback(host))
  )

  // A password may go to this machine without TLS.
  it.each([
    "127.mail.example.com",
    "127.0.0.1.example.com",
    "127.0.0.256",
    "localhost.example.com",
    "10.0.0.1",
    "::",
    ""
  ])("knows %j as no such host", (host) => assert.isFalse(isLoopback(host)))
})
