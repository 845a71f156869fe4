/**
 * Random and mutated requests never cause a 500, a response without the envelope, a hanging connection or a crash.
 *
 * `FUZZ_SEED` repeats a run, `FUZZ_RUNS` sets the number of requests.
 */
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type Agreement, type Answer, checkAnswer } from "./support/agreement.ts"
import { makeCall, read, readAgreement, signUp, submit, type Tenant, xml } from "./support/client.ts"
import { databaseOfRun, type TestDatabase } from "./support/databases.ts"
import { operationsOf } from "./support/operations.ts"
import { exchange, parse } from "./support/raw.ts"
import { type Server, startServer } from "./support/server.ts"

const seed = Number(process.env["FUZZ_SEED"] ?? Date.now() % 1_000_000)
const runs = Number(process.env["FUZZ_RUNS"] ?? 400)

// A small generator of its own (mulberry32), so that a run can be repeated.
const makeRandom = (from: number) => {
  let state = from
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const below = (count: number): number => Math.floor(next() * count)
  const pick = <A>(values: ReadonlyArray<A>): A => values[below(values.length)]!
  return { next, below, pick }
}
type Random = ReturnType<typeof makeRandom>

const nasty: ReadonlyArray<unknown> = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e308,
  -0,
  "",
  " ",
  "\u0000",
  "\ud800",
  "\udfff\ud800",
  "\uFEFF",
  "𝄞",
  "é".repeat(300),
  "a".repeat(5000),
  [],
  {},
  [[]],
  [null],
  { a: { b: {} } },
  "__proto__",
  "constructor",
  "*",
  ["*"],
  ["*", "*"],
  "invoice.accepted",
  ["invoice.accepted", 1],
  "9999-12-31T23:59:59.999Z",
  "+275760-09-13T00:00:00Z",
  "2027-02-30T00:00:00Z",
  "test",
  "live",
  "1e400",
  Number.MAX_SAFE_INTEGER,
  "' OR 1=1 --",
  "%00",
  "../..",
  "\r\nX: y",
  "<a/>",
  "<!DOCTYPE a><a/>",
  "<a>&#0;</a>",
  "<a xmlns:b='c' b:d='e'/>",
  "https://example.com",
  "http://[::1]",
  "https://example.com:99999",
  "https://%",
  "a@b",
  "a@b\u0000",
  "5265877635",
  { toString: 1 },
  { length: -1 }
]

const names: ReadonlyArray<string> = nasty.filter((value) => typeof value === "string")

const nastyName = (random: Random): string => random.pick(names)

const mutateValue = (random: Random, value: unknown, depth = 0): unknown => {
  if (random.next() < 0.3) return random.pick(nasty)
  if (typeof value === "string" && value.length > 0) {
    const at = random.below(value.length)
    const change = random.pick([
      "",
      "\u0000",
      "\ud800",
      "é",
      "<",
      "&",
      '"',
      "\\",
      String.fromCharCode(random.below(0x10000))
    ])
    return value.slice(0, at) + change + value.slice(at + random.below(3))
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value) && depth < 4) {
    const entries = Object.entries(value as Record<string, unknown>).map(([key, member]): [string, unknown] => [
      random.next() < 0.1 ? nastyName(random) : key,
      random.next() < 0.5 ? mutateValue(random, member, depth + 1) : member
    ])
    if (random.next() < 0.3) entries.push([nastyName(random), random.pick(nasty)])
    if (random.next() < 0.2) entries.splice(random.below(entries.length), 1)
    return Object.fromEntries(entries)
  }
  return random.pick(nasty)
}

const mutateBytes = (random: Random, bytes: Buffer): Buffer => {
  const changed = Buffer.from(bytes)
  for (let count = random.below(4); count >= 0; count--) {
    if (changed.length > 0) changed[random.below(changed.length)] = random.below(256)
  }
  return random.next() < 0.2 ? changed.subarray(0, random.below(changed.length + 1)) : changed
}

const mutatePath = (random: Random, path: string): string => {
  const at = 1 + random.below(path.length - 1)
  const change = random.pick([
    "%00",
    "%",
    "%zz",
    "%c3",
    "//",
    "/",
    "..",
    ";",
    "?",
    "#",
    "%2f",
    "%20",
    "'",
    "*",
    ":",
    "a".repeat(500),
    "\\",
    "+"
  ])
  return random.next() < 0.5 ? path.slice(0, at) + change + path.slice(at) : path
}

const mutateQuery = (random: Random): string => {
  const names = [
    "limit",
    "cursor",
    "status",
    "mode",
    "event_id",
    "invoice_id",
    "x",
    "__proto__",
    "limit[]",
    "",
    "%00",
    "lim%69t"
  ]
  const values = [
    "1",
    "0",
    "101",
    "",
    "%00",
    "%",
    "a",
    "accepted",
    "test",
    "evt_01m7q5cqg0e6786ptds43fm4k3",
    "%ED%A0%80",
    "1&limit=2",
    "🧾",
    "AAAA"
  ]
  const parts = Array.from(
    { length: random.below(4) },
    () => `${random.pick(names)}${random.pick(["=", "", "=="])}${random.pick(values)}`
  )
  return parts.length === 0 ? "" : `?${parts.join("&")}`
}

const headerNames = [
  "idempotency-key",
  "gov-sandbox-scenario",
  "content-type",
  "authorization",
  "accept",
  "if-none-match",
  "content-encoding",
  "origin",
  "cookie",
  "x-forwarded-for",
  "x-http-method-override",
  "range"
]
const headerValues = [
  "",
  " ",
  "a",
  "accepted",
  "application/json",
  "application/json; charset=utf-8",
  "text/plain",
  "*/*",
  "*",
  '"x"',
  "W/",
  "gzip",
  "identity",
  "\t",
  "\u00ff".repeat(20),
  "a,b",
  "Bearer",
  "Bearer ",
  "Bearer x",
  "bytes=0-1",
  "a".repeat(3000),
  "null",
  "PUT"
]

const { name, open } = databaseOfRun

describe(`the API with malformed input on ${name} (FUZZ_SEED=${seed})`, () => {
  let database: TestDatabase
  let server: Server
  let agreement: Agreement
  let tenant: Tenant
  let invoiceId: string

  beforeAll(async () => {
    database = await open()
    server = await startServer({
      ...database.settings,
      GOVOICE_RATE_LIMIT_PER_SECOND: "1000000",
      GOVOICE_RATE_LIMIT_BYTES_PER_SECOND: "1000000000",
      GOVOICE_RATE_LIMIT_BURST: "1000000",
      GOVOICE_ACCOUNT_RATE_LIMIT_PER_SECOND: "1000000"
    })
    agreement = await readAgreement(server.url)
    const call = makeCall(() => server.url, agreement)
    tenant = await signUp(call)
    invoiceId = ((await submit(call, tenant.testKey)).json as { readonly id: string }).id
  })
  afterAll(async () => {
    await server?.stop()
    await database?.drop()
  })

  const survived = async () => {
    assert.isNull(server.process.exitCode)
    assert.strictEqual((await fetch(`${server.url}/readyz`)).status, 200)
    assert.notInclude(server.output(), "Request failed with a defect", server.output().slice(-3000))
  }

  // Excludes the operations that would revoke the key, delete the endpoint, and end the login of the run.
  const excluded = ["apiKeys.revoke", "webhookEndpoints.delete", "accounts.logoutAll", "accounts.changePassword"]
  const operations = () => operationsOf(tenant, invoiceId).filter(({ id }) => !excluded.includes(id))

  it(`${runs} mutated requests are answered in the envelope and as the document says`, async () => {
    const random = makeRandom(seed)
    const statuses = new Map<number, number>()
    const one = async () => {
      const operation = random.pick(operations())
      const method =
        random.next() < 0.9
          ? operation.method
          : random.pick(["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD"])
      const path = (random.next() < 0.3 ? mutatePath(random, operation.path) : operation.path) + mutateQuery(random)
      const headers: Record<string, string> = {}
      if (operation.auth !== "none" && random.next() < 0.95) {
        headers["authorization"] = `Bearer ${operation.auth === "key" ? tenant.testKey : tenant.token}`
      }
      if (operation.id === "invoices.submit" && random.next() < 0.9)
        headers["idempotency-key"] = `k${random.below(200)}`
      if (random.next() < 0.2) headers[random.pick(headerNames)] = random.pick(headerValues)
      let body: Buffer | undefined
      if (method !== "GET" && method !== "HEAD" && (operation.body !== undefined || random.next() < 0.1)) {
        headers["content-type"] ??= "application/json"
        // Among few requests, the headers above make a wrong type too seldom.
        if (random.next() < 0.1) headers["content-type"] = random.pick(headerValues)
        const valid =
          operation.id === "invoices.submit" ? { invoice_xml: xml, metadata: { a: "b" } } : (operation.body ?? {})
        const given = random.next() < 0.8 ? mutateValue(random, valid) : valid
        body = Buffer.from(JSON.stringify(given) ?? "")
        if (random.next() < 0.3) body = mutateBytes(random, body)
      }
      const described = `${method} ${path} ${JSON.stringify(headers)} ${body?.toString("latin1").slice(0, 500) ?? ""}`
      let response: Response
      try {
        response = await fetch(`${server.url}${path}`, {
          method,
          headers,
          signal: AbortSignal.timeout(20_000),
          ...(body === undefined ? {} : { body: body as NonNullable<RequestInit["body"]> })
        })
      } catch (error) {
        // Some headers and paths are not sent by fetch itself.
        if (error instanceof TypeError && (error as { readonly cause?: unknown }).cause === undefined) return
        throw new Error(`No answer to ${described}`, { cause: error })
      }
      const answer: Answer = await read(response)
      assert.isBelow(answer.status, 500, `${described} ${answer.text}`)
      try {
        agreement.check(method, new URL(response.url).pathname, answer)
      } catch (error) {
        throw new Error(`Not as promised: ${described} → ${answer.status} ${answer.text.slice(0, 500)}`, {
          cause: error
        })
      }
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
    }
    for (let done = 0; done < runs; done += 20) await Promise.all(Array.from({ length: 20 }, one))
    await survived()
    for (const status of [200, 201, 400, 404, 415, 422]) assert.isAbove(statuses.get(status) ?? 0, 0, String(status))
  })

  it(`${runs / 2} mutated byte sequences are answered, or their connections are closed`, async () => {
    const random = makeRandom(seed + 1)
    const template = (): string => {
      const operation = random.pick(
        operations().filter(({ id }) => id !== "accounts.login" && id !== "accounts.create")
      )
      const body = operation.body === undefined ? "" : JSON.stringify(operation.body)
      const auth =
        operation.auth === "none"
          ? ""
          : `Authorization: Bearer ${operation.auth === "key" ? tenant.testKey : tenant.token}\r\n`
      const length = body === "" ? "" : `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`
      return `${operation.method} ${operation.path} HTTP/1.1\r\nHost: x\r\n${auth}Idempotency-Key: w${random.below(100)}\r\n${length}Connection: close\r\n\r\n${body}`
    }
    let answered = 0
    const one = async () => {
      const bytes = mutateBytes(random, Buffer.from(template()))
      const head =
        random.next() < 0.1
          ? Buffer.from(Array.from({ length: random.below(200) }, () => random.below(256)))
          : Buffer.alloc(0)
      const sent = Buffer.concat([head, bytes])
      // An incomplete request has no response within this time; nothing invalid may arrive meanwhile.
      const { bytes: received, end } = await exchange(server.port, [sent], 1500)
      try {
        for (const answer of parse(received, sent.subarray(0, 4).toString() === "HEAD" ? "HEAD" : "GET")) {
          answered++
          checkAnswer(answer, "GET")
          assert.isBelow(answer.status, 500)
        }
      } catch (error) {
        throw new Error(`${JSON.stringify(sent.toString("latin1"))} → ${end} ${received.toString("latin1")}`, {
          cause: error
        })
      }
    }
    let sent = 0
    const lane = async () => {
      while (sent++ < runs / 2) await one()
    }
    await Promise.all(Array.from({ length: 40 }, lane))
    assert.isAbove(answered, runs / 4)
    await survived()
  })
})
