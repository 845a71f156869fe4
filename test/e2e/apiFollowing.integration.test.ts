/** Following the list of invoices, by time and by cursor, while several servers store invoices that commit late. */
import { randomUUID } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { createClient, type Invoice } from "../../packages/client/src/index.ts"
import { createMigrated } from "../support/databases.ts"
import { type Call, makeCall, readAgreement, signUp, xml } from "./support/client.ts"
import { secrets, type Server, startServer } from "./support/server.ts"

const submitters = 8
const invoices = 400

// Each fifth invoice takes longer to store than the others.
const delays = `
  CREATE FUNCTION delay() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF random() < 0.2 THEN PERFORM pg_sleep(0.3 * random()); END IF;
    RETURN NEW;
  END $$;
  CREATE TRIGGER delay AFTER INSERT ON invoice_documents FOR EACH ROW EXECUTE FUNCTION delay()`

describe("the list of invoices", () => {
  let database: Awaited<ReturnType<typeof createMigrated>>
  let servers: ReadonlyArray<Server> = []
  let agreement: Awaited<ReturnType<typeof readAgreement>>
  let call: Call

  beforeAll(async () => {
    database = await createMigrated()
    const settings = {
      DATABASE_URL: database.url,
      ...secrets,
      GOVOICE_ROLE: "api",
      GOVOICE_RATE_LIMIT_PER_SECOND: "10000",
      GOVOICE_RATE_LIMIT_BURST: "10000",
      GOVOICE_ACCOUNT_RATE_LIMIT_PER_SECOND: "1000"
    }
    servers = await Promise.all([0, 1].map(() => startServer(settings)))
    await database.run(delays)
    agreement = await readAgreement(servers[0]!.url)
    call = makeCall(() => servers[0]!.url, agreement)
  })
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.stop()))
    await database?.drop()
  })

  const clientsOf = (apiKey: string) => servers.map(({ url }) => createClient({ apiKey, baseUrl: url, maxRetries: 5 }))

  /** Submits with all servers. */
  const submitAll = async (clients: ReturnType<typeof clientsOf>): Promise<ReadonlyArray<string>> => {
    const ids: Array<string> = []
    const submitter = async (number: number) => {
      while (ids.length < invoices) {
        const { id } = await clients[number % clients.length]!.invoices.submit(xml, { idempotencyKey: randomUUID() })
        ids.push(id)
      }
    }
    await Promise.all(Array.from({ length: submitters }, (_, number) => submitter(number)))
    return ids
  }

  /** Calls `read` until everything was submitted, and once more after that. */
  const followUntilEnd = async (submitting: Promise<unknown>, read: () => Promise<void>) => {
    const state = { isOver: false }
    const end = submitting.finally(() => (state.isOver = true))
    while (!state.isOver) await read()
    await end
    await read()
  }

  it.each([
    "the newest created_at as the next created_after",
    "the cursor of the last page",
    "the newest created_at, as the owner"
  ])("shows every invoice to a reader who follows it by %s", async (how) => {
    const { organizationId, testKey, token } = await signUp(call)
    const clients = clientsOf(testKey)
    const owner = `/v1/control-plane/organizations/${organizationId}/invoices`
    const seen = new Set<string>()
    let cursor: string | undefined
    let createdAfter: string | undefined
    let reads = 0

    const byTime = async () => {
      const found: Array<Invoice> = []
      for await (const invoice of clients[reads++ % 2]!.invoices.list({ createdAfter, limit: 100 })) found.push(invoice)
      for (const { id } of found) seen.add(id)
      createdAfter = found[0]?.createdAt ?? createdAfter
    }
    const byCursor = async () => {
      for (;;) {
        const page = await clients[reads++ % 2]!.invoices.list({ order: "asc", limit: 100 }).page(cursor)
        for (const { id } of page.data) {
          assert.isFalse(seen.has(id), "an invoice was shown twice")
          seen.add(id)
        }
        assert.isString(page.nextCursor)
        cursor = page.nextCursor!
        if (!page.hasMore) return
      }
    }
    const asOwner = async () => {
      const callServer = makeCall(() => servers[reads++ % 2]!.url, agreement)
      const found: Array<{ readonly id: string; readonly created_at: string }> = []
      for (let next: string | null = ""; next !== null;) {
        const position: string = next === "" ? "" : `&cursor=${next}`
        const { json } = await callServer("GET", `${owner}?limit=100&created_after=${createdAfter}${position}`, {
          auth: token
        })
        const page = json as { readonly data: typeof found; readonly next_cursor: string | null }
        found.push(...page.data)
        next = page.next_cursor
      }
      for (const { id } of found) seen.add(id)
      createdAfter = found[0]?.created_at ?? createdAfter
    }
    createdAfter = new Date(Date.now() - 3_600_000).toISOString()
    const submitted = submitAll(clients)
    await followUntilEnd(submitted, how.includes("owner") ? asOwner : how.includes("created_at") ? byTime : byCursor)
    const missed = (await submitted).filter((id) => !seen.has(id))
    assert.lengthOf(missed, 0, `${missed.length} of ${(await submitted).length} were never seen`)
    assert.isAbove(reads, 5)
  })

  it("is sorted by age in ascending order, in pages that continue each other, and begins where created_after says", async () => {
    const [client] = clientsOf((await signUp(call)).testKey)
    const list = (options: object) => client!.invoices.list({ order: "asc", ...options })
    const empty = await list({}).page()
    assert.deepInclude(empty, { data: [], hasMore: false })

    const ids: Array<string> = []
    const times: Array<string> = []
    for (let n = 0; n < 7; n++) {
      const { createdAt, id } = await client!.invoices.submit(xml)
      ids.push(id)
      times.push(createdAt)
      await sleep(2)
    }
    const read: Array<string> = []
    let { nextCursor: cursor } = empty
    for (let pages = 0; pages < 4; pages++) {
      const page = await list({ limit: 2 }).page(cursor!)
      read.push(...page.data.map(({ id }) => id))
      assert.strictEqual(page.hasMore, pages < 3)
      cursor = page.nextCursor
    }
    assert.deepStrictEqual(read, ids)
    assert.deepStrictEqual((await list({}).page(cursor!)).data, [])

    const all: Array<string> = []
    for await (const { id } of list({ limit: 3, createdAfter: times[2], createdBefore: times[5] })) all.push(id)
    assert.deepStrictEqual(all, ids.slice(2, 5))
    const { id } = await client!.invoices.submit(xml)
    assert.deepStrictEqual(
      (await list({}).page(cursor!)).data.map((invoice) => invoice.id),
      [id]
    )
  })

  it("shows what is old while a transaction stores an invoice for longer than a second, and all after it", async () => {
    const [client] = clientsOf((await signUp(call)).testKey)
    const { id } = await client!.invoices.submit(xml)
    const ofNow = async () => (await client!.invoices.list({ order: "asc" }).page()).data.map((invoice) => invoice.id)
    const held = database.run(`
      DO $$ BEGIN
        LOCK TABLE invoices IN ROW EXCLUSIVE MODE;
        PERFORM pg_sleep(6);
      END $$`)
    await sleep(500)
    assert.deepStrictEqual(await ofNow(), [])
    await held
    assert.deepStrictEqual(await ofNow(), [id])
  })

  it("refuses a cursor of the other order", async () => {
    const { testKey: auth } = await signUp(call)
    const { json } = await call("GET", "/v1/invoices?order=asc", { auth })
    const { next_cursor: cursor } = json as { readonly next_cursor: string }
    assert.strictEqual((await call("GET", `/v1/invoices?order=asc&cursor=${cursor}`, { auth })).status, 200)
    for (const query of [`cursor=${cursor}`, `order=desc&cursor=${cursor}`, "order=up", "order="]) {
      assert.strictEqual((await call("GET", `/v1/invoices?${query}`, { auth })).status, 422, query)
    }
  })
})
