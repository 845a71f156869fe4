/**
 * The engine among faults: real processes on a real Postgres, killed, stopped and cut off in the middle of their work.
 *
 * `FAULTS_SECONDS` makes the faults of each test last longer than the few seconds that they last here.
 */
import { assert, describe, it } from "vitest"
import { leaseMs, maxAttempts, sleep, timeoutMs, until, workerConcurrency } from "./deployment.ts"
import * as Invariants from "./invariants.ts"
import { duplicates as countDuplicates, makeOrganization, setUp } from "./support.ts"

const seconds = Number(process.env["FAULTS_SECONDS"] ?? 6)
const scenarios = ["accepted", "rejected", "temporary_failure", "accepted", "delayed"]

const faults = setUp()

const organization = (...behaviours: ReadonlyArray<string>) => makeOrganization(faults, behaviours)

/** Submits without a pause until it is told to stop, some at a time. Returns how many were accepted. */
const load = (keys: ReadonlyArray<string>, perSecond: number) => {
  const stopping = new AbortController()
  let submitted = 0
  const client = async (offset: number) => {
    for (let n = offset; !stopping.signal.aborted; n++) {
      await faults.deployment.submit(keys[n % keys.length]!, scenarios[n % scenarios.length]!)
      submitted += 1
      await sleep((4 * 1000) / perSecond)
    }
  }
  const clients = Promise.all([0, 1, 2, 3].map(client))
  return async (): Promise<number> => {
    stopping.abort()
    await clients
    return submitted
  }
}

const duplicates = (): number => countDuplicates(faults)

/** Everything that is delivered was received, and everything is delivered that should be. */
const assertReceived = async (path: string, endpointId: string): Promise<void> => {
  const received = new Set(faults.receiver.receipts.filter((one) => one.path === path).map(({ eventId }) => eventId))
  const { rows } = await faults.deployment.pool.query<{ event_id: string; status: string }>(
    "SELECT event_id, status FROM deliveries WHERE endpoint_id = $1",
    [endpointId]
  )
  assert.isAbove(rows.length, 0)
  for (const { event_id, status } of rows) {
    assert.strictEqual(status, "succeeded")
    assert.isTrue(received.has(event_id), `${event_id} is said to be delivered`)
  }
}

const assertAllWell = async (organizations: ReadonlyArray<Awaited<ReturnType<typeof organization>>>) => {
  assert.deepStrictEqual(faults.receiver.faults, [])
  await Invariants.check(faults.deployment.pool, { maxAttempts })
  for (const { endpoints, paths } of organizations) {
    for (const [index, path] of paths.entries()) {
      if (path.startsWith("/ok")) await assertReceived(path, endpoints[index]!.id)
    }
  }
}

const inFlight = () => faults.deployment.count("deliveries WHERE lease_expires_at IS NOT NULL")

describe("faults", { timeout: (seconds * 4 + 90) * 1000 }, () => {
  it("loses nothing when workers are killed in the middle of their work, again and again", async () => {
    await faults.deployment.startApi()
    const organizations = [await organization("ok", "ok"), await organization("ok"), await organization("ok", "flaky")]
    const workers = await Promise.all([faults.deployment.startWorker(), faults.deployment.startWorker()])
    const stop = load(
      organizations.map(({ key }) => key),
      60
    )

    let atRisk = 0
    let kills = 0
    const deadline = Date.now() + seconds * 1000
    for (; Date.now() < deadline; kills++) {
      await sleep(500)
      const victim = workers[kills % workers.length]!
      await victim.kill()
      atRisk += await inFlight()
      workers[kills % workers.length] = await faults.deployment.startWorker()
    }
    const submitted = await stop()
    await faults.deployment.finished(leaseMs * 3 + 20_000)

    assert.isAtLeast(kills, 2)
    assert.isAbove(submitted, 10 * seconds)
    assert.strictEqual(await faults.deployment.count("invoices"), submitted)
    await assertAllWell(organizations)
    // What a killed worker had sent and not written down comes again; nothing else does.
    assert.isAtMost(duplicates(), atRisk)
    assert.strictEqual(await faults.deployment.count("deliveries WHERE status <> 'succeeded'"), 0)
  })

  it("completes what is in flight when it is told to stop, and leaves no lease behind", async () => {
    await faults.deployment.startApi()
    const organizations = [await organization("ok"), await organization("ok", "ok")]
    const stop = load(
      organizations.map(({ key }) => key),
      60
    )
    const deadline = Date.now() + seconds * 1000
    let worker = await faults.deployment.startWorker()
    while (Date.now() < deadline) {
      await sleep(700)
      const begun = Date.now()
      const replaced = faults.deployment.startWorker()
      assert.strictEqual(await worker.stop(), 0)
      assert.isBelow(Date.now() - begun, timeoutMs + 5000)
      worker = await replaced
    }
    await stop()
    assert.strictEqual(await worker.stop(), 0)
    assert.strictEqual(await inFlight(), 0)
    assert.strictEqual(await faults.deployment.count("invoices WHERE is_leased"), 0)
    assert.strictEqual(duplicates(), 0)

    worker = await faults.deployment.startWorker()
    await faults.deployment.finished(20_000)
    await assertAllWell(organizations)
    assert.strictEqual(duplicates(), 0)
    // Nobody was ever taken over from.
    assert.strictEqual(await faults.deployment.count("deliveries WHERE fencing_token <> attempt_count"), 0)
  })

  it("waits for a receiver that is slow when it is told to stop, no longer than its deadline", async () => {
    await faults.deployment.startApi()
    const { key } = await organization("hang")
    const worker = await faults.deployment.startWorker()
    await faults.deployment.submit(key, "accepted")
    await until("an attempt", async () => (await inFlight()) > 0, 5000)
    const begun = Date.now()
    assert.strictEqual(await worker.stop(), 0)
    assert.isBelow(Date.now() - begun, timeoutMs + 5000)
    assert.strictEqual(await inFlight(), 0)
    const { rows } = await faults.deployment.pool.query<{
      status: string
      attempt_count: number
      last_error_summary: string
    }>("SELECT status, attempt_count, last_error_summary FROM deliveries WHERE event_type = 'invoice.received'")
    assert.deepStrictEqual(rows, [
      { status: "retrying", attempt_count: 1, last_error_summary: "The request timed out." }
    ])
  })

  it("comes back by itself when connections are cut and Postgres is restarted under load", async () => {
    await faults.deployment.startApi()
    const organizations = [await organization("ok", "ok"), await organization("ok")]
    await Promise.all([faults.deployment.startWorker(), faults.deployment.startWorker()])
    const stop = load(
      organizations.map(({ key }) => key),
      60
    )
    let atRisk = 0
    const deadline = Date.now() + seconds * 1000
    for (let n = 0; Date.now() < deadline; n++) {
      await sleep(900)
      atRisk += 2 * workerConcurrency
      if (n % 2 === 0) {
        await faults.deployment.pool.query(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'govoice%'"
        )
      } else {
        await faults.postgres.stop()
        await sleep(300)
        await faults.postgres.start()
      }
    }
    const submitted = await stop()
    await faults.deployment.finished(leaseMs * 3 + 20_000)

    assert.isAbove(submitted, 5 * seconds)
    // One that was accepted is there once; one whose answer was lost is there once, too.
    assert.strictEqual(await faults.deployment.count("invoices"), submitted)
    await assertAllWell(organizations)
    assert.isAtMost(duplicates(), atRisk)
    for (const { child, text } of faults.deployment.processes) assert.isNull(child.exitCode, text)
  })

  it("writes down what hostile receivers did, and delivers to the others as if they were not there", async () => {
    await faults.deployment.startApi()
    const hostile = ["hang", "drip", "reset", "redirect", "rubbish", "endless", "busy", "gone", "flaky"]
    const crowd = await organization("ok", ...hostile)
    const healthy = await organization("ok")
    await Promise.all([faults.deployment.startWorker(), faults.deployment.startWorker()])
    const stop = load([crowd.key, healthy.key], 8)
    await sleep(800)
    await stop()
    await faults.deployment.finished(60_000)
    await assertAllWell([crowd, healthy])

    const expected: Readonly<
      Record<string, readonly [status: string, http: number | null, summary: string | null, attempts: number]>
    > = {
      ok: ["succeeded", 204, null, 1],
      hang: ["failed", null, "The request timed out.", maxAttempts],
      drip: ["failed", null, "The request timed out.", maxAttempts],
      reset: ["failed", null, "The connection failed.", maxAttempts],
      redirect: ["failed", 302, "The endpoint returned HTTP 302.", 1],
      rubbish: ["failed", null, "The connection failed.", maxAttempts],
      endless: ["succeeded", 200, null, 1],
      busy: ["succeeded", 204, null, 2],
      gone: ["failed", 410, "The endpoint returned HTTP 410.", 1],
      flaky: ["succeeded", 200, null, 2]
    }
    for (const [index, behaviour] of ["ok", ...hostile].entries()) {
      const { rows } = await faults.deployment.pool.query<Record<string, unknown>>(
        `SELECT DISTINCT status, last_http_status AS http, last_error_summary AS summary, attempt_count AS attempts
         FROM deliveries WHERE endpoint_id = $1`,
        [crowd.endpoints[index]!.id]
      )
      const [status, http, summary, attempts] = expected[behaviour]!
      assert.deepStrictEqual(rows, [{ status, http, summary, attempts }], behaviour)
    }
    const { rows } = await faults.deployment.pool.query<{ slowest: number }>(
      `SELECT extract(epoch FROM max(delivered_at - created_at))::float AS slowest FROM deliveries WHERE endpoint_id = $1`,
      [healthy.endpoints[0]!.id]
    )
    assert.isBelow(rows[0]!.slowest, timeoutMs / 1000)
    assert.strictEqual(duplicates(), 0)
  })
})
