/** An organization moves to another cell: under a load of submissions, and with a live lane in flight. */
import { type Simulator, startSimulator } from "@govoice/ksef-simulator"
import { randomBytes, randomInt } from "node:crypto"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll, assert, beforeAll, describe, it, onTestFinished } from "vitest"
import { unitOf } from "../../apps/server/test/support/nips.ts"
import { freePort } from "../support/freePort.ts"
import { maxAttempts, sleep, until } from "../faults/deployment.ts"
import * as Invariants from "../faults/invariants.ts"
import { credentialOf, document } from "../faults/liveKillPoints.ts"
import { type Receiver, startReceiver } from "../faults/receiver.ts"
import { type Cell, type Cells, isInstalled, named, Proxy, startCells } from "./cells.ts"
import { cellOf, otherOf, submit } from "./directory.ts"
import { builtCommand } from "../e2e/support/build.ts"
import { startSwallower } from "../faults/swallower.ts"
import { ServerProcess } from "../support/serverProcess.ts"

const perSecond = 100
const clients = 30
const stopMs = 5000
const scenarios = ["accepted", "rejected", "temporary_failure", "accepted", "delayed"]

interface Stored {
  readonly key: string
  readonly id: string
  readonly at: number
}

const startLoad = (cells: Cells, apiKey: string, rate: number, count: number) => {
  const stopping = new AbortController()
  const stored: Array<Stored> = []
  const client = async (offset: number) => {
    const startedAt = Date.now()
    for (let n = 0; !stopping.signal.aborted; n++) {
      const scenario = scenarios[(n * count + offset) % scenarios.length]!
      const key = randomBytes(12).toString("hex")
      stored.push({ key: `${key} ${scenario}`, id: await submit(cells, apiKey, key, scenario), at: Date.now() })
      await sleep(Math.max(0, startedAt + ((n + 1) * count * 1000) / rate - Date.now()))
    }
  }
  const running = Promise.all(Array.from({ length: count }, (_, offset) => client(offset)))
  return {
    stored,
    tookMs: () => stored.at(-1)!.at - stored[0]!.at,
    reached: (target: number) =>
      until(`${target} submissions`, () => Promise.resolve(stored.length >= target), 120_000),
    stop: () => {
      stopping.abort()
      return running
    }
  }
}

/** The longest time without an acknowledged submission. */
const longestStop = (stored: ReadonlyArray<Stored>): number => {
  const times = stored.map(({ at }) => at).sort((one, other) => one - other)
  return Math.max(...times.slice(1).map((at, index) => at - times[index]!))
}

/** A receiver that hangs, or closes the connection, until it is healed. */
const startPatient = async () => {
  let isHealed = false
  const server = createServer((request, response) => {
    request.resume()
    if (isHealed) response.writeHead(204).end()
    else if (request.url === "/reset") request.socket.resetAndDestroy()
  })
  server.on("connection", (socket) => socket.on("error", () => {}))
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: (path: string) => `http://127.0.0.1:${port}${path}`,
    heal: () => (isHealed = true),
    close: () => {
      server.closeAllConnections()
      server.close()
    }
  }
}

/** How many attempts the worker with these metrics has made. */
const attemptsOf = async (metricsPort: string): Promise<number> => {
  const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
  return [...text.matchAll(/^govoice_delivery_attempts_total\{.*\} (\d+)/gm)].reduce((sum, [, n]) => sum + Number(n), 0)
}

const move = ({ deployment }: Cell, organization: string, target: Cell): Promise<string> =>
  deployment.run(`cells move ${organization} --to ${target.name}`, { GOVOICE_TARGET_DATABASE_URL: target.cluster.url })

const tables = [
  "invoices",
  "invoice_documents",
  "receipts",
  "idempotency_records",
  "events",
  "deliveries",
  "webhook_endpoints",
  "api_keys",
  "national_sessions",
  "national_submissions"
]

const assertGone = async ({ deployment }: Cell, organization: string) => {
  for (const table of tables) {
    assert.strictEqual(await deployment.count(`${table} WHERE organization_id = '${organization}'`), 0, table)
  }
}

describe.skipIf(!isInstalled)(named("an organization moves to another cell"), () => {
  let cells: Cells
  let ksef: Simulator
  let receiver: Receiver
  const metrics = new Map<Cell, string>()
  let proxy: Proxy

  beforeAll(async () => {
    ksef = await startSimulator({ processingMs: 300, seed: String(randomInt(1_000_000)) })
    receiver = await startReceiver()
    cells = await startCells({
      GOVOICE_LIVE_MODE: "true",
      GOVOICE_KSEF_URL: ksef.url
    })
    // Its configuration is that from before the moves.
    proxy = await Proxy.start(cells.a)
    for (const cell of [cells.a, cells.b]) {
      const port = String(await freePort())
      metrics.set(cell, port)
      cell.deployment.callAt(proxy.url)
      await cell.deployment.processes.at(-1)!.stop()
      await cell.deployment.startWorker({ PORT: "0", GOVOICE_METRICS_PORT: port })
    }
  })
  afterAll(async () => {
    await proxy?.close()
    await cells?.close()
    await receiver?.close()
    await ksef?.close()
  })

  it("ends with a sentence when the other cell goes silent while writes are refused, and goes on when it is run again", async () => {
    const moving = await cells.a.deployment.organization([])
    const from = await cellOf(cells, moving.id)
    const to = otherOf(cells, from)
    const url = new URL(to.cluster.url)
    const swallower = await startSwallower(Number(url.port))
    onTestFinished(() => swallower.close())
    url.port = String(swallower.port)
    const command = new ServerProcess(
      [await builtCommand(), "cells", "move", moving.id, "--to", to.name],
      from.deployment.settings({ GOVOICE_TARGET_DATABASE_URL: url.href })
    )
    onTestFinished(() => void command.kill())
    await until("a copy", () => Promise.resolve(command.stdout.includes("Waiting for deliveries")), 60_000)
    swallower.swallow(() => "both", 1, false)
    const code = await Promise.race([command.exited, sleep(60_000)])
    assert.strictEqual(code, 1, command.text)
    assert.include(command.text, "has not answered for 30 s")
    await move(from, moving.id, to)
    await submit(cells, moving.key, "after the move", "accepted")
  })

  it("at 100 submissions a second, with receivers that fail and hang", async () => {
    const { a } = cells
    const patient = await startPatient()
    onTestFinished(() => patient.close())
    const paths = ["/ok?move", "/flaky?move"]
    const moving = await a.deployment.organization([
      ...paths.map((path) => receiver.url(path)),
      patient.url("/hang"),
      patient.url("/reset")
    ])
    for (const [index, path] of paths.entries()) receiver.learn(path, moving.endpoints[index]!.secret)
    const from = await cellOf(cells, moving.id)
    const to = otherOf(cells, from)
    // Without endpoints: the attempts of a cell are those of the organization that moves.
    let bystander = await a.deployment.organization([])
    while ((await cellOf(cells, bystander.id)) !== from) bystander = await a.deployment.organization([])

    const load = startLoad(cells, moving.key, perSecond, clients)
    const other = startLoad(cells, bystander.key, 10, 2)
    await load.reached(perSecond * 5)
    const flipped = (async () => {
      while ((await cellOf(cells, moving.id)) === from) await sleep(5)
      return { attempts: await attemptsOf(metrics.get(from)!), at: Date.now() }
    })()
    const startedAt = Date.now()
    const told = await move(from, moving.id, to)
    const movedAt = Date.now()
    const { attempts, at } = await flipped
    await load.reached(load.stored.length + perSecond * 5)
    await load.stop()
    await other.stop()
    const stopped = longestStop(load.stored)
    console.info(
      `${load.stored.length} invoices, ${Math.round((load.stored.length * 1000) / load.tookMs())} a second; moved in ${movedAt - startedAt} ms, the directory changed after ${at - startedAt} ms; ` +
        `no submission was acknowledged for ${stopped} ms, and of another organization for ${longestStop(other.stored)} ms.\n${told}`
    )
    assert.isBelow(stopped, stopMs)

    patient.heal()
    await to.deployment.finished(240_000)
    await from.deployment.finished(120_000)
    assert.strictEqual(await attemptsOf(metrics.get(from)!), attempts)
    await assertGone(from, moving.id)
    const { rows } = await to.deployment.pool.query<{ id: string }>(
      "SELECT id FROM invoices WHERE organization_id = $1",
      [moving.id]
    )
    assert.sameMembers(
      rows.map(({ id }) => id),
      load.stored.map(({ id }) => id)
    )
    for (const { id, key } of load.stored.filter((_, index) => index % 10 === 0)) {
      const [text, scenario] = key.split(" ") as [string, string]
      assert.strictEqual(await submit(cells, moving.key, text, scenario), id)
    }
    assert.deepStrictEqual(receiver.faults, [])
    const arrived = new Set(receiver.receipts.filter(({ path }) => path === "/ok?move").map(({ eventId }) => eventId))
    const events = await to.deployment.pool.query<{ id: string }>("SELECT id FROM events WHERE organization_id = $1", [
      moving.id
    ])
    assert.sameMembers(
      [...arrived],
      events.rows.map(({ id }) => id)
    )
    for (const { deployment } of [from, to]) await Invariants.check(deployment.pool, { maxAttempts })
  })

  it("with live lanes in flight, and with those of other contexts of the taxpayer, and back", async () => {
    const { deployment } = cells.a
    const { id, key } = await deployment.liveOrganization({ context: ksef.nip, ...credentialOf(ksef, "token") })
    const unit = unitOf(ksef.nip)
    const credential = { context: unit, token: ksef.issueToken({ context: unit }) }
    await until("the taxpayer", async () => (await cells.a.deployment.count("cell_taxpayers")) > 0, 60_000)
    // Its credential is taken in the cell of the taxpayer alone.
    let ofUnit: { readonly id: string; readonly key: string } | undefined
    while (ofUnit === undefined) ofUnit = await deployment.liveOrganization(credential).catch(() => undefined)
    const keys = [key, ofUnit.key]
    const submitAll = async (from: number, count: number) => {
      for (let n = from; n < from + count; n++) {
        await submit(cells, keys[n % 2]!, randomBytes(12).toString("hex"), "accepted", document(ksef.nip, `FV/${n}`))
      }
    }
    let from = await cellOf(cells, id)
    assert.strictEqual(await cellOf(cells, ofUnit.id), from)
    let submitted = 0
    for (let round = 0; round < 2; round++) {
      const submitting = submitAll(submitted, 12)
      submitted += 12
      const open = "national_submissions WHERE state IN ('sending', 'sent')"
      await until("documents in flight", async () => (await from.deployment.count(open)) > 0, 60_000)
      const to = otherOf(cells, from)
      await move(from, id, to)
      await submitting
      const left = "invoices WHERE mode = 'live' AND NOT upo_available AND status NOT IN ('rejected', 'failed')"
      await until("the receipt of every invoice", async () => (await to.deployment.count(left)) === 0, 200_000)
      for (const one of [id, ofUnit.id]) {
        assert.strictEqual(await cellOf(cells, one), to)
        await assertGone(from, one)
      }
      assert.strictEqual(await from.deployment.count(`national_lanes WHERE context LIKE '${ksef.nip}%'`), 0)
      from = to
    }
    const accepted = ksef.ledger.accepted()
    assert.lengthOf(accepted, submitted)
    assert.lengthOf(new Set(accepted.map(({ sha256 }) => sha256)), submitted)
    assert.strictEqual(
      await from.deployment.count("invoices WHERE mode = 'live' AND status = 'accepted' AND upo_available"),
      submitted
    )
    for (const one of [id, ofUnit.id]) {
      assert.strictEqual(await from.deployment.count(`receipts WHERE organization_id = '${one}'`), submitted / 2)
    }
    assert.strictEqual(ksef.ledger.overLimit, 0)
  })
})
