import { assert, describe, it } from "vitest"
import * as Throttling from "../../../src/http/middleware/Throttling.ts"
import type { NamedLimit } from "../../../src/limits/Throttled.ts"

describe("a refusal", () => {
  it.each<[limit: NamedLimit, policy: string, message: string]>([
    [{ name: "default", quota: 200, windowMs: 2000 }, '"default";q=200;w=2', "200 requests in 2 s"],
    [
      { name: "bytes", quota: 4096, unit: "content-bytes", windowMs: 4000 },
      '"bytes";q=4096;w=4;qu="content-bytes"',
      "4096 bytes in 4 s"
    ],
    [
      { name: "account-concurrency", quota: 4, unit: "concurrent-requests" },
      '"account-concurrency";q=4;qu="concurrent-requests"',
      "4 requests at once"
    ]
  ])("names its limit in the message and in the headers: %j", (limit, policy, what) => {
    const { headers, message } = Throttling.refusalOf({ limit, waitMs: 1200 })
    assert.deepStrictEqual(headers, {
      "ratelimit-policy": policy,
      ratelimit: `"${limit.name}";r=0;t=2`,
      "retry-after": "2"
    })
    assert.strictEqual(
      message,
      `The limit "${limit.name}" is used up: ${what}. Send the request again in 2 s (see Retry-After).`
    )
  })
})
