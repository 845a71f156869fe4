/** Files of invoices are up to a megabyte each: however many an organization asks for at once, others find the database. */
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { createMigrated } from "../support/databases.ts"
import { type Call, makeCall, readAgreement, signUp, submit, type Tenant } from "./support/client.ts"
import { secrets, type Server, startServer } from "./support/server.ts"

describe("files of invoices", () => {
  let database: Awaited<ReturnType<typeof createMigrated>>
  let server: Server
  let call: Call
  let tenant: Tenant
  let other: Tenant

  beforeAll(async () => {
    database = await createMigrated()
    server = await startServer({ DATABASE_URL: database.url, ...secrets, GOVOICE_ROLE: "api" })
    call = makeCall(() => server.url, await readAgreement(server.url))
    tenant = await signUp(call)
    other = await signUp(call)
  })
  afterAll(async () => {
    await server?.stop()
    await database?.drop()
  })

  const waiting = async (): Promise<ReadonlyArray<number>> => {
    const rows = await database.run(
      "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    )
    return (rows as ReadonlyArray<{ readonly pid: number }>).map(({ pid }) => pid)
  }

  /** Locks the files, and returns what unlocks them. */
  const lock = async () => {
    const begin = "DO $$ BEGIN LOCK TABLE invoice_documents, receipts"
    const locked = database.run(`${begin}; PERFORM pg_sleep(60); END $$`).catch(() => {})
    const holds =
      "SELECT FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND relation = 'receipts'::regclass AND granted"
    while ((await database.run(holds)).length === 0) await sleep(50)
    return async () => {
      await database.run(`SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query LIKE '${begin}%'`)
      await locked
    }
  }

  it.each([
    ["document", 40, 200],
    ["upo", 40, 404],
    // Each is drawn, one after the other, and waits for its turn for ten seconds at most.
    ["pdf", 3, 200]
  ] as const)("(%s) are read two at a time for an organization", async (file, count, status) => {
    const { json } = await submit(call, tenant.testKey)
    const { id } = json as { readonly id: string }
    const unlock = await lock()
    const answers = Array.from({ length: count }, () =>
      call("GET", `/v1/invoices/${id}/${file}`, { auth: tenant.testKey })
    )
    while ((await waiting()).length < 2) await sleep(50)
    // More would come now, and the other organization would not be answered before the lock ends.
    await sleep(500)
    const me = await call("GET", "/v1/me", { auth: other.testKey })
    const found = await waiting()
    await unlock()
    const statuses = (await Promise.all(answers)).map((answer) => answer.status)
    assert.strictEqual(me.status, 200)
    assert.lengthOf(found, 2)
    assert.deepStrictEqual([...new Set(statuses)], [status])
  })

  it("of owners wait for their turn, and no other read of an account waits for them", async () => {
    const owners = await Promise.all(Array.from({ length: 3 }, () => signUp(call)))
    const paths = await Promise.all(
      owners.map(async ({ organizationId, testKey }) => {
        const { json } = await submit(call, testKey)
        const { id } = json as { readonly id: string }
        return `/v1/control-plane/organizations/${organizationId}/invoices/${id}/document`
      })
    )
    const unlock = await lock()
    // As many as reads may be in progress, and more.
    const answers = owners.flatMap(({ token }, n) =>
      Array.from({ length: 4 }, () => call("GET", paths[n]!, { auth: token }))
    )
    while ((await waiting()).length < 6) await sleep(50)
    const organizations = await call("GET", "/v1/control-plane/organizations", { auth: other.token })
    const found = await waiting()
    await unlock()
    const statuses = (await Promise.all(answers)).map((answer) => answer.status)
    assert.strictEqual(organizations.status, 200)
    assert.lengthOf(found, 6)
    assert.deepStrictEqual([...new Set(statuses)], [200])
  })
})
