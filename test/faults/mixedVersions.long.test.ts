/**
 * A rolling upgrade under load: processes of this version go on while a later version migrates the schema, and new processes
 * of this version start on it, as in an upgrade that is taken back.
 *
 * The later migration is made here, as there is no release yet. It does what the guide on upgrades lets one do: it adds columns,
 * a table and an index, and changes nothing that exists.
 */
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { startPostgres } from "../support/postgres.ts"
import type { ServerProcess } from "../support/serverProcess.ts"
import { Deployment, leaseMs, maxAttempts, until } from "./deployment.ts"
import * as Invariants from "./invariants.ts"
import { startLoad } from "./load.ts"
import { type Receiver, startReceiver } from "./receiver.ts"

// Every table, so that no statement depends on the list of columns: Postgres refuses a prepared `SELECT *` then. Each in a
// transaction of its own, as locks on several tables can deadlock with the statements of workers.
const migrate = async ({ pool }: Deployment): Promise<void> => {
  const { rows } = await pool.query<{ name: string }>(
    `SELECT quote_ident(relname) AS name FROM pg_class
     WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
       AND relname <> 'schema_migrations'`
  )
  const statements = [
    ...rows.map(
      ({ name }) => `ALTER TABLE ${name} ADD COLUMN added_later text, ADD COLUMN counted_later int NOT NULL DEFAULT 7`
    ),
    "CREATE TABLE later (id text PRIMARY KEY)",
    "CREATE INDEX CONCURRENTLY invoices_later ON invoices (counted_later)",
    "INSERT INTO schema_migrations SELECT max(migration_id) + 1, now(), 'later', '', 1 FROM schema_migrations"
  ]
  for (const statement of statements) await pool.query(statement)
}

// Its receiver answers 503 at times, which is logged.
const warnings = ({ log }: ServerProcess) => log.filter(({ message }) => !message.startsWith("Receiver "))

describe("an upgrade with mixed versions", () => {
  let postgres: Awaited<ReturnType<typeof startPostgres>>
  let receiver: Receiver
  let deployment: Deployment

  beforeAll(async () => {
    postgres = await startPostgres()
    receiver = await startReceiver()
    deployment = new Deployment(postgres.url)
  })
  afterAll(async () => {
    await deployment.close()
    await receiver.close()
    await postgres.remove()
  })

  it("has processes from before a later migration continue, and others start on its schema", async () => {
    const api = await deployment.startApi()
    const workers = [await deployment.startWorker(), await deployment.startWorker()]
    const paths = ["/ok?1", "/flaky?2"]
    const { endpoints, key } = await deployment.organization(paths.map(receiver.url))
    for (const [index, path] of paths.entries()) receiver.learn(path, endpoints[index]!.secret)
    const load = startLoad(deployment, [key], 60)
    const reached = (count: number) =>
      until(`${count} submissions`, () => Promise.resolve(load.submitted() >= count), 180_000)

    await reached(80)
    await migrate(deployment)
    await reached(load.submitted() + 80)
    // Processes that were there before the migration have warned of nothing but the receiver.
    for (const one of [api, ...workers]) assert.deepStrictEqual(warnings(one), [])

    const replacement = await deployment.startWorker()
    assert.strictEqual(await workers[0]!.stop(), 0)
    await deployment.startApi()
    assert.strictEqual(await api.stop(), 0)
    await reached(load.submitted() + 80)
    assert.match(await deployment.run("migrate --check"), /The schema is current\./)
    const accepted = await load.stop()
    await deployment.finished(leaseMs * 3 + 120_000)

    assert.deepStrictEqual(warnings(replacement), [])
    assert.strictEqual(await deployment.count("invoices"), accepted)
    assert.strictEqual(await deployment.count("deliveries WHERE status <> 'succeeded'"), 0)
    assert.strictEqual(await deployment.count("schema_migrations WHERE name = 'later'"), 1)
    assert.deepStrictEqual(receiver.faults, [])
    await Invariants.check(deployment.pool, { maxAttempts })
  })
})
