/** A move of an organization goes on after faults of its replication. */
import { randomBytes } from "node:crypto"
import { Client } from "pg"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { until } from "../faults/deployment.ts"
import { type Cell, type Cells, isInstalled, named, Proxy, startCells } from "./cells.ts"
import { cellOf, otherOf, submitOnce } from "./directory.ts"

describe.skipIf(!isInstalled)(named("a move whose replication fails"), () => {
  let cells: Cells
  let proxy: Proxy

  beforeAll(async () => {
    cells = await startCells()
    proxy = await Proxy.start(cells.a)
    for (const { deployment } of [cells.a, cells.b]) deployment.callAt(proxy.url)
  })
  afterAll(async () => {
    await proxy?.close()
    await cells?.close()
  })

  const setUp = async () => {
    const { id, key } = await cells.a.deployment.organization([])
    assert.strictEqual((await submitOnce(cells, key, randomBytes(12).toString("hex"), "accepted")).status, 201)
    const from = await cellOf(cells, id)
    await from.deployment.finished(60_000)
    return { id, from, to: otherOf(cells, from) }
  }

  const move = (id: string, from: Cell, to: Cell) =>
    from.deployment
      .run(`cells move ${id} --to ${to.name}`, { GOVOICE_TARGET_DATABASE_URL: to.cluster.url })
      .then(() => "moved")
      .catch(String)

  it("goes on when a connection is lost once", async () => {
    const { from, id, to } = await setUp()
    const client = new Client({ connectionString: to.cluster.url })
    await client.connect()
    await client.query("BEGIN; LOCK TABLE receipts IN EXCLUSIVE MODE")
    const moving = move(id, from, to)
    const end = `pg_replication_slots WHERE slot_name LIKE 'govoice_move_%' AND pg_terminate_backend(active_pid)`
    await until("replication", async () => (await from.deployment.count(end)) > 0, 60_000)
    const errors = "pg_stat_subscription_stats WHERE apply_error_count + sync_error_count > 0"
    await until("an error", async () => (await to.deployment.count(errors)) > 0, 60_000)
    await client.query("ROLLBACK")
    await client.end()
    assert.strictEqual(await moving, "moved")
  })

  it("is refused when it fails again and again, and goes on once the cause is gone", async () => {
    const { from, id, to } = await setUp()
    const { rows } = await from.deployment.pool.query<{ row: string }>(
      "SELECT to_json(api_keys)::text AS row FROM api_keys WHERE organization_id = $1",
      [id]
    )
    // A row that was copied already is in the way.
    const copy = "INSERT INTO api_keys SELECT (json_populate_record(NULL::api_keys, $1::json)).*"
    await to.deployment.pool.query(copy, [rows[0]!.row])
    assert.match(await move(id, from, to), /The subscription govoice_move_.. fails/)
    await to.deployment.pool.query("DELETE FROM api_keys WHERE organization_id = $1", [id])
    assert.strictEqual(await move(id, from, to), "moved")
  })

  it("brings events of weeks that the other cell has dropped", async () => {
    const { from, id, to } = await setUp()
    const name = "01jh00000"
    await from.deployment.pool.query(`
      INSERT INTO events SELECT (json_populate_record(events, json_build_object('id', 'evt_${name}' || substr(id, 14)))).*
      FROM events WHERE organization_id = '${id}' LIMIT 1
    `)
    const { rows } = await to.deployment.pool.query<{ name: string }>(
      "SELECT relname AS name FROM pg_class WHERE relispartition AND relkind = 'r' AND relname ~ '_before_'"
    )
    await to.deployment.pool.query(`DROP TABLE ${rows.map(({ name }) => name).join(", ")}`)
    const count = `events WHERE organization_id = '${id}'`
    const before = await from.deployment.count(count)
    assert.strictEqual(await move(id, from, to), "moved")
    assert.strictEqual(await to.deployment.count(count), before)
  })
})
