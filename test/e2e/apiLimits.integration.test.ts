/** Rate limits by address, key and bytes: a limited caller does not affect others. */
import { randomUUID } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import * as ApiKeySecret from "../../apps/server/src/accounts/ApiKeySecret.ts"
import { problemOf } from "./support/agreement.ts"
import { type Call, makeCall, read, readAgreement, signUp, type Tenant } from "./support/client.ts"
import { openMigrated, type TestDatabase } from "./support/databases.ts"
import { type Server, startServer } from "./support/server.ts"

const mebibyte = 1024 * 1024

// Neither a document nor JSON: the limit applies before the body is parsed.
const bodyOf = (bytes: number) => "x".repeat(bytes)

const chunked = (text: string) =>
  new ReadableStream({
    start: (controller) => {
      controller.enqueue(new TextEncoder().encode(text))
      controller.close()
    }
  })

describe("limits", () => {
  let database: TestDatabase
  let server: Server
  let narrow: Server
  let call: Call
  let tenant: Tenant

  beforeAll(async () => {
    database = await openMigrated()
    const settings = { ...database.settings, GOVOICE_ROLE: "api" }
    server = await startServer(settings)
    narrow = await startServer({ ...settings, GOVOICE_RATE_LIMIT_BYTES_PER_SECOND: String(mebibyte) })
    const agreement = await readAgreement(server.url)
    call = makeCall(() => server.url, agreement)
    tenant = await signUp(call)
  })
  afterAll(async () => {
    await Promise.all([server?.stop(), narrow?.stop()])
    await database?.drop()
  })

  it("an address is limited to 100 unknown API keys a minute, and a key that was valid before is not affected", async () => {
    const me = (auth: string) => call("GET", "/v1/me", { auth })
    assert.strictEqual((await me(tenant.testKey)).status, 200)
    for (let key = 0; key < 100; key++) {
      assert.strictEqual(
        problemOf(await me(ApiKeySecret.generate("live", "org_00000000000000000000000000"))).code,
        "missing_api_key"
      )
    }
    const refused = await me(ApiKeySecret.generate("live", "org_00000000000000000000000000"))
    assert.strictEqual(problemOf(refused).code, "rate_limit_exceeded")
    assert.isAtMost(Number(refused.headers.get("retry-after")), 60)
    assert.strictEqual((await me(tenant.testKey)).status, 200)
  })

  describe("of bytes", () => {
    const submit = async (auth: string, body: string | ReadableStream) => {
      const response = await fetch(`${narrow.url}/v1/invoices`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${auth}`,
          "content-type": "application/json",
          "idempotency-key": randomUUID()
        },
        body,
        ...(typeof body === "string" ? {} : { duplex: "half" })
      } as RequestInit)
      return read(response)
    }
    const newKey = async () => {
      const { testKey } = await signUp(call)
      return testKey
    }

    it("a key has a burst of four times its bytes per second, and each response has its rate limit headers", async () => {
      const key = await newKey()
      // At once: after four seconds, there would be room for both.
      const answers = await Promise.all([submit(key, bodyOf(4 * mebibyte)), submit(key, bodyOf(4 * mebibyte))])
      const [first, refused] = answers.toSorted(
        ({ status }, other) => Number(status === 429) - Number(other.status === 429)
      )
      assert.strictEqual(problemOf(first!).code, "invalid_request_body")
      assert.strictEqual(
        first!.headers.get("ratelimit-policy"),
        `"default";q=200;w=2, "bytes";q=${4 * mebibyte};w=4;qu="content-bytes"`
      )
      assert.match(first!.headers.get("ratelimit") ?? "", /"bytes";r=\d+;t=\d$/)

      assert.strictEqual(problemOf(refused!).code, "rate_limit_exceeded")
      const retryAfter = Number(refused!.headers.get("retry-after"))
      assert.isAtMost(retryAfter, 4)
      assert.include(problemOf(refused!).message, `The limit "bytes" is used up: ${4 * mebibyte} bytes in 4 s.`)
      assert.strictEqual(refused!.headers.get("ratelimit-policy"), `"bytes";q=${4 * mebibyte};w=4;qu="content-bytes"`)
      assert.strictEqual(refused!.headers.get("ratelimit"), `"bytes";r=0;t=${retryAfter}`)
      const me = await fetch(`${narrow.url}/v1/me`, { headers: { authorization: `Bearer ${key}` } })
      assert.strictEqual(me.status, 200, "requests without a body are not limited")
      assert.strictEqual(me.headers.get("ratelimit-policy"), '"default";q=200;w=2')
      assert.strictEqual(
        problemOf(await submit(await newKey(), "{}")).code,
        "invalid_invoice_xml",
        "other keys are not limited"
      )

      await sleep(retryAfter * 1000)
      assert.strictEqual(problemOf(await submit(key, bodyOf(4 * mebibyte))).code, "invalid_request_body")
    })

    it("a chunked body counts against later requests", async () => {
      const key = await newKey()
      for (let time = 0; time < 2; time++) {
        assert.strictEqual(problemOf(await submit(key, chunked(bodyOf(3 * mebibyte)))).code, "invalid_request_body")
      }
      for (const body of ["{}", chunked("{}")]) {
        assert.strictEqual(problemOf(await submit(key, body)).code, "rate_limit_exceeded")
      }
    })

    it("a body that is too large is answered with request_too_large instead of rate_limit_exceeded", async () => {
      const key = await newKey()
      assert.strictEqual(problemOf(await submit(key, bodyOf(5 * mebibyte))).code, "request_too_large")
    })
  })
})
