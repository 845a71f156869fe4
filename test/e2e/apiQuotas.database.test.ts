/**
 * Limits are what they announce: a request within the quota is served, however many come at once, and the client of the package
 * keeps to the quota by itself.
 */
import { randomUUID } from "node:crypto"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { createClient, isApiError } from "../../packages/client/src/index.ts"
import { type Call, makeCall, readAgreement, signUp, submit, until } from "./support/client.ts"
import { databaseOfRun, type TestDatabase } from "./support/databases.ts"
import { type Server, startServer } from "./support/server.ts"

const kilobyte = 1000

const documentOf = (bytes: number): string => {
  const frame = `<Faktura><P_2>${randomUUID()}</P_2><Text></Text></Faktura>`
  return frame.replace("</Text>", `${"x".repeat(Math.max(0, bytes - frame.length))}</Text>`)
}

const { name, open } = databaseOfRun

describe(`the quota of a key, with ${name},`, () => {
  let database: TestDatabase
  let server: Server
  let call: Call

  beforeAll(async () => {
    database = await open()
    server = await startServer({ ...database.settings, ...(name === "Postgres" ? { GOVOICE_ROLE: "api" } : {}) })
    call = makeCall(() => server.url, await readAgreement(server.url))
  })
  afterAll(async () => {
    await server?.stop()
    await database?.drop()
  })

  const newKey = async () => (await signUp(call)).testKey

  /** Submits, and again while a busy machine has no time for it. */
  const submitted = (auth: string, invoice_xml: string, key: string = randomUUID()) =>
    until(
      () => submit(call, auth, { body: { invoice_xml }, headers: { "idempotency-key": key } }),
      ({ status }) => status !== 503
    )

  it.each([
    [60, 100],
    [30, 950]
  ])("has room for %d documents of %d KB at once", async (count, size) => {
    const auth = await newKey()
    const answers = await Promise.all(Array.from({ length: count }, () => submitted(auth, documentOf(size * kilobyte))))
    assert.deepStrictEqual(
      answers.map(({ status }) => status),
      Array<number>(count).fill(201)
    )
  })

  it.each([1, 100, 300, 600])(
    "has room for fifty identical submissions of %d KB at once, which are one invoice",
    async (size) => {
      const auth = await newKey()
      const document = documentOf(size * kilobyte)
      const answers = await Promise.all(Array.from({ length: 50 }, () => submitted(auth, document, "fifty")))
      assert.deepStrictEqual(
        answers.map(({ status }) => status),
        Array<number>(50).fill(201)
      )
      assert.strictEqual(new Set(answers.map(({ text }) => text)).size, 1)
      assert.lengthOf(
        answers.filter((answer) => answer.headers.get("idempotent-replayed") === "true"),
        49
      )
    }
  )

  it.each([
    [1000, 1],
    [200, 100],
    [60, 950]
  ])("is kept by a client that submits %d documents of %d KB at once", async (count, size) => {
    const refused: Array<string> = []
    const client = createClient({
      apiKey: await newKey(),
      baseUrl: server.url,
      onRetry: ({ error }) => refused.push(error.message)
    })
    const results = await Promise.allSettled(
      Array.from({ length: count }, () => client.invoices.submit(documentOf(size * kilobyte)))
    )
    const failures = results.flatMap((result) =>
      result.status === "rejected" ? [isApiError(result.reason) ? result.reason.code : String(result.reason)] : []
    )
    assert.deepStrictEqual(failures, [])
    // One call at a time tries whether the quota has room again.
    assert.isBelow(refused.length, count / 10, [...new Set(refused)].join(" "))
  })
})
