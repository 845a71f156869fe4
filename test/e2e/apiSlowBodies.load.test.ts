/** Slow and idle uploads time out, and do not delay other clients. */
import { afterAll, afterEach, assert, beforeAll, describe, it } from "vitest"
import { type Answer, checkAnswer, problemOf } from "./support/agreement.ts"
import { type Call, makeCall, password, readAgreement, signUp, submit, type Tenant } from "./support/client.ts"
import { parse } from "./support/raw.ts"
import { type Server, startServer } from "./support/server.ts"
import { latencies, percentile, trickle, type Upload, usual } from "./support/slow.ts"

const control = "/v1/control-plane"
const kibibyte = 1024

describe("slow bodies", () => {
  let server: Server
  let call: Call
  let victim: Tenant
  let strangers: ReadonlyArray<Tenant>
  let uploads: Array<Upload> = []

  beforeAll(async () => {
    server = await startServer({
      GOVOICE_DATA_DIR: "memory",
      // The victim submits as fast as it is answered. On a quick machine it would reach its own limits.
      GOVOICE_RATE_LIMIT_BYTES_PER_SECOND: "1000000000",
      GOVOICE_RATE_LIMIT_PER_SECOND: "10000",
      GOVOICE_RATE_LIMIT_BURST: "10000",
      GOVOICE_ACCOUNT_RATE_LIMIT_PER_SECOND: "1000"
    })
    call = makeCall(() => server.url, await readAgreement(server.url))
    victim = await signUp(call)
    strangers = await Promise.all(Array.from({ length: 5 }, () => signUp(call)))
  })
  afterEach(() => {
    for (const upload of uploads) upload.stop()
    uploads = []
  })
  afterAll(async () => {
    await server?.stop()
  })

  const head = (path: string, key = "nobody") =>
    `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nIdempotency-Key: slow\r\n` +
    "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
  const chunk = (bytes: number) => `${bytes.toString(16)}\r\n${" ".repeat(bytes)}\r\n`

  const upload = (options: Parameters<typeof trickle>[1]): Upload => {
    const started = trickle(server.port, options)
    uploads.push(started)
    return started
  }

  const invoice_xml = `<a>${"a".repeat(100 * kibibyte)}</a>`
  const submitLarge = async () => {
    const answer = await submit(call, victim.testKey, { body: { invoice_xml } })
    assert.strictEqual(answer.status, 201)
  }
  const answerOf = async ({ ended }: Upload): Promise<Answer> => {
    const [answer] = parse((await ended).bytes)
    assert.isDefined(answer)
    checkAnswer(answer, "POST")
    return answer
  }

  it("that stay idle do not raise the latency of other keys", async () => {
    const calm = await latencies(2000, submitLarge)
    for (let count = 0; count < 12; count++) upload({ first: head("/v1/invoices", strangers[0]!.testKey) })
    for (let count = 0; count < 12; count++) {
      upload({ first: head("/v1/invoices", strangers[0]!.testKey) + chunk(40 * kibibyte) })
    }
    await new Promise((resolve) => setTimeout(resolve, 300))
    const attacked = await latencies(3000, submitLarge)
    assert.isBelow(percentile(attacked, usual), Math.max(250, 8 * percentile(calm, usual)))
  })

  it("without a credential do not delay the control plane", async () => {
    for (let count = 0; count < 50; count++) upload({ first: head(`${control}/auth/login`) })
    await new Promise((resolve) => setTimeout(resolve, 300))
    const times = await latencies(2000, async () => {
      const answer = await call("POST", `${control}/organizations`, {
        auth: victim.token,
        body: { name: "n".repeat(100 * kibibyte) }
      })
      assert.strictEqual(problemOf(answer).code, "invalid_parameter")
    })
    assert.isBelow(percentile(times, usual), 1000)
  })

  it("end with request_timeout when they stop or are slower than 16 KiB a second, and go on when faster", async () => {
    // All of them wait at the same time.
    const stopped = upload({ first: head("/v1/invoices", victim.testKey) + chunk(200 * kibibyte) })
    const silent = upload({ first: head("/v1/invoices", victim.testKey) })
    const slow = upload({ first: head("/v1/invoices", victim.testKey), size: 1000, everyMs: 100 })
    const login = upload({ first: head(`${control}/auth/login`), size: 1, everyMs: 500 })
    const key = strangers[0]!.testKey
    const steady = upload({ first: head("/v1/invoices", key), size: 4 * kibibyte, everyMs: 100, fill: " " })
    let isOver = false
    void steady.ended.then(() => (isOver = true))
    const enough = new Promise((resolve) => setTimeout(resolve, 12_000))
    for (const one of [stopped, silent, slow, login]) {
      const problem = problemOf(await answerOf(one))
      assert.deepInclude(problem, { code: "request_timeout", retryable: true })
      const { milliseconds } = await one.ended
      assert.isAbove(milliseconds, 5000)
      assert.isBelow(milliseconds, one === slow ? 40_000 : 20_000)
    }
    await enough
    assert.isFalse(isOver)
  })

  it("of five organizations at their memory limits do not delay another organization", async () => {
    const calm = await latencies(2000, submitLarge)
    for (const { testKey } of strangers) {
      for (let count = 0; count < 8; count++) {
        upload({ first: head("/v1/invoices", testKey) + chunk(3 * 1024 * kibibyte), size: 2 * kibibyte, everyMs: 100 })
      }
    }
    await new Promise((resolve) => setTimeout(resolve, 500))
    const attacked = await latencies(8000, submitLarge)
    assert.isBelow(percentile(attacked, usual), Math.max(250, 8 * percentile(calm, usual)))
  })

  it("are limited to 16 KiB without a credential, 256 KiB for the control plane, 4 MiB for invoices", async () => {
    const email = "owner@example.com"
    const cases: ReadonlyArray<readonly [path: string, limit: number, auth: string | undefined, body: object]> = [
      [`${control}/auth/login`, 16, undefined, { email, password }],
      [`${control}/auth/refresh`, 16, undefined, { refresh_token: "of nobody" }],
      [`${control}/accounts`, 16, undefined, { email, password: "short" }],
      [`${control}/auth/logout`, 16, undefined, { refresh_token: "of nobody" }],
      [`${control}/organizations`, 256, victim.token, { name: "" }],
      ["/v1/invoices", 4096, victim.testKey, { invoice_xml: "" }]
    ]
    for (const [path, limit, auth, body] of cases) {
      const send = (bytes: number) => {
        return call("POST", path, {
          auth,
          raw: JSON.stringify(body).padEnd(bytes),
          headers: { "idempotency-key": "limits" }
        })
      }
      assert.notStrictEqual((await send(limit * kibibyte)).status, 413, path)
      const refused = await send(limit * kibibyte + 1)
      assert.strictEqual(problemOf(refused).code, "request_too_large", path)
      assert.include(problemOf(refused).message, limit < 1024 ? `${limit} KiB` : "4 MiB")
    }
  })
})
