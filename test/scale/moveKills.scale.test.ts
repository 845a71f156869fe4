/** A move of an organization is killed at its statements in turn, and completed or aborted by the command. */
import { randomBytes } from "node:crypto"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { ServerProcess } from "../support/serverProcess.ts"
import { builtCommand } from "../e2e/support/build.ts"
import { until } from "../faults/deployment.ts"
import { type Receiver, startReceiver } from "../faults/receiver.ts"
import { StatementCounter } from "./statementProxy.ts"
import { type Cell, type Cells, isInstalled, named, Proxy, startCells } from "./cells.ts"
import { cellOf, otherOf, submitOnce } from "./directory.ts"

const tables = [
  "invoices",
  "invoice_documents",
  "receipts",
  "idempotency_records",
  "events",
  "deliveries",
  "webhook_endpoints",
  "api_keys"
]

// A statement of every `step` is a kill point.
const step = 3

/** A digest of each table's rows of an organization. */
const digest = async ({ deployment }: Cell, organization: string): Promise<Readonly<Record<string, string>>> => {
  const digests: Record<string, string> = {}
  for (const table of tables) {
    const { rows } = await deployment.pool.query<{ digest: string }>(
      `SELECT count(*) || ' ' || coalesce(md5(string_agg(one::text, ' ' ORDER BY one::text)), '') AS digest
       FROM ${table} AS one WHERE organization_id = $1`,
      [organization]
    )
    digests[table] = rows[0]!.digest
  }
  return digests
}

/** Rows and catalog entries of a move that should be gone. */
const leftovers = async ({ deployment }: Cell): Promise<number> =>
  deployment.count(`(
    SELECT pubname::text FROM pg_publication WHERE pubname LIKE 'govoice_move%'
    UNION ALL SELECT subname::text FROM pg_subscription WHERE subname LIKE 'govoice_move%'
    UNION ALL SELECT slot_name::text FROM pg_replication_slots WHERE slot_name LIKE 'govoice_move%'
    UNION ALL SELECT bucket FROM cell_moves WHERE step <> 'moved'
    UNION ALL SELECT id FROM invoices WHERE due_at > now() + interval '1 year'
    UNION ALL SELECT organization_id FROM organization_concurrency WHERE max_in_flight = 0
    UNION ALL SELECT context FROM national_lanes WHERE due_at > now() + interval '1 year'
  ) AS left_over`)

describe.skipIf(!isInstalled)(named("a move that is killed"), () => {
  let cells: Cells
  let receiver: Receiver
  let proxy: Proxy
  const counter = new StatementCounter()

  beforeAll(async () => {
    receiver = await startReceiver()
    cells = await startCells()
    proxy = await Proxy.start(cells.a)
    for (const { deployment } of [cells.a, cells.b]) deployment.callAt(proxy.url)
  })
  afterAll(async () => {
    counter.close()
    await proxy?.close()
    await cells?.close()
    await receiver?.close()
  })

  it("is completed by the same command, or aborted, whichever statement was its last", async () => {
    const { a } = cells
    const { endpoints, id, key } = await a.deployment.organization([receiver.url("/ok?kill")])
    receiver.learn("/ok?kill", endpoints[0]!.secret)
    const ids = new Map<string, string>()
    const submit = async (idempotencyKey: string) => {
      const { id, status } = await submitOnce(cells, key, idempotencyKey, "accepted")
      if (id !== undefined) ids.set(idempotencyKey, id)
      return status
    }
    for (let n = 0; n < 20; n++) assert.strictEqual(await submit(randomBytes(12).toString("hex")), 201)

    const govoice = await builtCommand()
    const urls = new Map<Cell, string>()
    for (const cell of [cells.a, cells.b]) urls.set(cell, await counter.before(cell.cluster.url))
    const start = (from: Cell, to: Cell, abort = false) => {
      const settings = from.deployment.settings({
        DATABASE_URL: urls.get(from)!,
        GOVOICE_TARGET_DATABASE_URL: urls.get(to)!,
        ...(from === a ? {} : { GOVOICE_CONTROL_DATABASE_URL: urls.get(a)! })
      })
      const args = ["cells", "move", id, "--to", to.name, ...(abort ? ["--abort"] : [])]
      return new ServerProcess([govoice, ...args], settings)
    }
    const finish = async (from: Cell, to: Cell, abort = false) => {
      counter.arm(Infinity, false, () => {})
      const command = start(from, to, abort)
      return { code: await command.exited, text: command.text }
    }

    let points = 0
    let aborted = 0
    for (let isComplete = false; !isComplete; points++) {
      const from = await cellOf(cells, id)
      const to = otherOf(cells, from)
      await from.deployment.finished(60_000)
      const before = await digest(from, id)
      const known = new Set(ids.keys())

      const nth = 1 + points * step
      let killed: Promise<unknown> = Promise.resolve()
      let wasKilled = false
      const command = start(from, to)
      counter.arm(nth, points % 2 === 0, () => {
        wasKilled = true
        killed = command.kill()
      })
      await command.exited
      await killed
      isComplete = !wasKilled
      const text = `point ${nth}: ${command.text}`
      if (isComplete) assert.strictEqual(command.child.exitCode, 0, text)

      // Either it is stored, or refused for the moment.
      const status = await submit(randomBytes(12).toString("hex"))
      assert.include([201, 421, 503], status, text)

      const tried = points % 3 === 2 && wasKilled ? await finish(from, to, true) : undefined
      const wasAborted = tried?.code === 0
      if (wasAborted) aborted += 1
      else {
        const { code, text: output } = await finish(from, to)
        assert.strictEqual(code, 0, `${text}\n${tried?.text}\n${output}`)
      }
      const [home, left] = wasAborted ? [from, to] : [to, from]
      assert.strictEqual((await cellOf(cells, id)).name, home.name, text)
      await home.deployment.finished(60_000)
      for (const table of tables)
        assert.strictEqual((await digest(left, id))[table]!.split(" ")[0], "0", `${text} ${table}`)
      for (const cell of [home, left]) assert.strictEqual(await leftovers(cell), 0, text)
      if (ids.size === known.size) assert.deepStrictEqual(await digest(home, id), before, text)
      else assert.strictEqual(await home.deployment.count(`invoices WHERE organization_id = '${id}'`), ids.size, text)
    }
    console.info(`${points} kill points, ${aborted} of them aborted; ${ids.size} invoices.`)
    assert.isAtLeast(points, 20)
    assert.isAtLeast(aborted, 3)

    const home = await cellOf(cells, id)
    for (const [idempotencyKey, invoice] of ids) {
      assert.include([200, 201], await submit(idempotencyKey))
      assert.strictEqual(ids.get(idempotencyKey), invoice)
    }
    await until(
      "the last delivery",
      async () => (await home.deployment.count("deliveries WHERE due_at IS NOT NULL")) === 0,
      60_000
    )
    const received = new Map<string, number>()
    for (const { eventId } of receiver.receipts) received.set(eventId, (received.get(eventId) ?? 0) + 1)
    assert.strictEqual(received.size, await home.deployment.count("events"))
    assert.deepStrictEqual(receiver.faults, [])
  }, 1_200_000)
})
