import { assert, describe, it } from "vitest"
import { isSameOrigin } from "../../../src/http/transport/Origin.ts"

const host = "govoice.example.com"

describe("isSameOrigin", () => {
  const accepted: ReadonlyArray<Record<string, string>> = [
    { "sec-fetch-site": "same-origin" },
    { "sec-fetch-site": "same-origin", origin: "https://other.example.com" },
    { origin: "https://govoice.example.com" },
    { origin: "http://GOVOICE.example.com" },
    { origin: "https://govoice.example.com", host: "govoice.example.com:443" },
    { origin: "http://127.0.0.1:3000", host: "127.0.0.1:3000" },
    { origin: "http://[::1]:3000", host: "[::1]:3000" }
  ]
  it.each(accepted)("accepts %j", (headers) => assert.isTrue(isSameOrigin({ host, ...headers })))

  const refused: ReadonlyArray<Record<string, string | undefined>> = [
    {},
    { "sec-fetch-site": "same-site" },
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "none" },
    { "sec-fetch-site": "" },
    { "sec-fetch-site": "same-origin, cross-site" },
    { "sec-fetch-site": "cross-site", origin: "https://govoice.example.com" },
    { origin: "null" },
    { origin: "" },
    { origin: "https://example.com" },
    { origin: "https://govoice.example.com.evil.example" },
    { origin: "https://govoice.example.com:444" },
    { origin: "http://govoice.example.com", host: "govoice.example.com:443" },
    { origin: "https://govoice.example.com", host: undefined },
    { origin: "file://", host: "" },
    { origin: "https://govoice.example.com", host: "govoice.example.com@evil.example" }
  ]
  it.each(refused)("refuses %j", (headers) => assert.isFalse(isSameOrigin({ host, ...headers })))
})
