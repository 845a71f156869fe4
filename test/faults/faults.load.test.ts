/**
 * Delivery during faults: real processes on a real Postgres are killed, stopped and disconnected while they work.
 *
 * `FAULTS_SECONDS` sets how long the faults of each test last.
 */
import { assert, describe, it } from "vitest"
import { leaseMs, maxAttempts, sleep, timeoutMs, until, workerConcurrency } from "./deployment.ts"
import * as Invariants from "./invariants.ts"
import { startLoad } from "./load.ts"
import { duplicates as countDuplicates, makeOrganization, setUp } from "./support.ts"

const seconds = Number(process.env["FAULTS_SECONDS"] ?? 2)

const faults = setUp()

const organization = (...behaviors: ReadonlyArray<string>) => makeOrganization(faults, behaviors)

const load = (keys: ReadonlyArray<string>, perSecond: number) => startLoad(faults.deployment, keys, perSecond)

/** Repeats a fault for `seconds`, and for longer until there were two faults and `minimum` invoices. */
const repeat = async (submitted: () => number, minimum: number, fault: (index: number) => Promise<void>) => {
  const deadline = Date.now() + seconds * 1000
  let faults = 0
  for (; Date.now() < deadline || faults < 2 || submitted() <= minimum; faults++) await fault(faults)
  return faults
}

const duplicates = (): number => countDuplicates(faults)

/** Asserts that every delivery of an endpoint succeeded and was received. */
const assertReceived = async (path: string, endpointId: string): Promise<void> => {
  const received = new Set(faults.receiver.receipts.filter((one) => one.path === path).map(({ eventId }) => eventId))
  const { rows } = await faults.deployment.pool.query<{ event_id: string; status: string }>(
    "SELECT event_id, status FROM deliveries WHERE endpoint_id = $1",
    [endpointId]
  )
  assert.isAbove(rows.length, 0)
  for (const { event_id, status } of rows) {
    assert.strictEqual(status, "succeeded")
    assert.isTrue(received.has(event_id), `${event_id} succeeded without having been received`)
  }
}

const assertConsistent = async (organizations: ReadonlyArray<Awaited<ReturnType<typeof organization>>>) => {
  assert.deepStrictEqual(faults.receiver.faults, [])
  await Invariants.check(faults.deployment.pool, { maxAttempts })
  for (const { endpoints, paths } of organizations) {
    for (const [index, path] of paths.entries()) {
      if (path.startsWith("/ok")) await assertReceived(path, endpoints[index]!.id)
    }
  }
}

/** Asserts that what arrived twice was interrupted, or failed at first, as where the machine is too busy for the timeout. */
const assertRepeatsCounted = async (organizations: ReadonlyArray<Awaited<ReturnType<typeof organization>>>) => {
  const steady = organizations.flatMap(({ endpoints, paths }) =>
    endpoints.filter((_, index) => paths[index]!.startsWith("/ok")).map(({ id }) => id)
  )
  const { rows } = await faults.deployment.pool.query<{ repeats: number }>(
    "SELECT sum(attempt_count - 1 + interruption_count)::int AS repeats FROM deliveries WHERE endpoint_id = ANY ($1)",
    [steady]
  )
  assert.isAtMost(duplicates(), rows[0]!.repeats)
}

const inFlight = () => faults.deployment.count("deliveries WHERE lease_expires_at IS NOT NULL")

describe("a deployment under faults", { timeout: (seconds * 4 + 90) * 1000 }, () => {
  it.each([1, 2, 4, 16])("loses no invoice and no delivery when workers are killed (%i workers)", async (count) => {
    await faults.deployment.startApi()
    const organizations = [await organization("ok", "ok"), await organization("ok"), await organization("ok", "flaky")]
    const workers = await Promise.all(Array.from({ length: count }, () => faults.deployment.startWorker()))
    const { stop, submitted } = load(
      organizations.map(({ key }) => key),
      60
    )

    const kills = await repeat(submitted, 10 * seconds, async (kill) => {
      await sleep(500)
      await workers[kill % workers.length]!.kill()
      workers[kill % workers.length] = await faults.deployment.startWorker()
    })
    const accepted = await stop()
    await faults.deployment.finished(leaseMs * 3 + 20_000)

    assert.isAtLeast(kills, 2)
    assert.isAbove(accepted, 10 * seconds)
    assert.strictEqual(await faults.deployment.count("invoices"), accepted)
    await assertConsistent(organizations)
    await assertRepeatsCounted(organizations)
    assert.strictEqual(await faults.deployment.count("deliveries WHERE status <> 'succeeded'"), 0)
  })

  it("has another worker take over the organizations of a killed one", async () => {
    await faults.deployment.startApi()
    const organizations = await Promise.all(Array.from({ length: 8 }, () => organization("ok")))
    const submitToEach = () => Promise.all(organizations.map(({ key }) => faults.deployment.submit(key, "accepted")))
    const [lost] = await Promise.all([faults.deployment.startWorker(), faults.deployment.startWorker()])
    await submitToEach()
    await faults.deployment.finished(60_000)
    await lost.kill()
    await submitToEach()
    await faults.deployment.finished(60_000)
    await assertConsistent(organizations)
    const { rows } = await faults.deployment.pool.query<{ slowest: number }>(
      `SELECT extract(epoch FROM max(delivered_at - created_at))::float AS slowest FROM deliveries
       WHERE interruption_count = 0`
    )
    // Workers own no organizations: the other claims what is due at its next poll or notification.
    assert.isBelow(rows[0]!.slowest, 30)
  })

  it("has the attempts of a stopped worker completed, and no lease left", async () => {
    await faults.deployment.startApi()
    const organizations = [await organization("ok"), await organization("ok", "ok")]
    const { stop, submitted } = load(
      organizations.map(({ key }) => key),
      60
    )
    let worker = await faults.deployment.startWorker()
    await repeat(submitted, 0, async () => {
      await sleep(700)
      const begun = Date.now()
      const replacement = faults.deployment.startWorker()
      assert.strictEqual(await worker.stop(), 0)
      assert.isBelow(Date.now() - begun, timeoutMs + 5000)
      worker = await replacement
    })
    await stop()
    assert.strictEqual(await worker.stop(), 0)
    assert.strictEqual(await inFlight(), 0)

    worker = await faults.deployment.startWorker()
    await faults.deployment.finished(20_000)
    await assertConsistent(organizations)
    await assertRepeatsCounted(organizations)
    // No delivery was interrupted.
    assert.strictEqual(await faults.deployment.count("deliveries WHERE fencing_token <> attempt_count"), 0)
  })

  it("has a stopped worker wait for a receiver until the webhook timeout at most", async () => {
    await faults.deployment.startApi()
    const { key } = await organization("hang")
    const worker = await faults.deployment.startWorker()
    await faults.deployment.submit(key, "accepted")
    await until("an attempt", async () => (await inFlight()) > 0, 30_000)
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

  it("recovers from closed connections and restarts of Postgres under load", async () => {
    await faults.deployment.startApi()
    const organizations = [await organization("ok", "ok"), await organization("ok")]
    await Promise.all([faults.deployment.startWorker(), faults.deployment.startWorker()])
    const { stop, submitted } = load(
      organizations.map(({ key }) => key),
      60
    )
    let atRisk = 0
    await repeat(submitted, 5 * seconds, async (fault) => {
      await sleep(900)
      atRisk += 2 * workerConcurrency
      if (fault % 2 === 0) {
        await faults.deployment.pool.query(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'govoice%'"
        )
      } else {
        await faults.postgres.stop()
        await sleep(300)
        await faults.postgres.start()
      }
    })
    const accepted = await stop()
    await faults.deployment.finished(leaseMs * 3 + 20_000)

    assert.isAbove(accepted, 5 * seconds)
    // Each accepted invoice is stored once, also if the first response to its submission was lost.
    assert.strictEqual(await faults.deployment.count("invoices"), accepted)
    await assertConsistent(organizations)
    assert.isAtMost(duplicates(), atRisk)
    for (const { child, text } of faults.deployment.processes) assert.isNull(child.exitCode, text)
  })

  it("records hostile receivers, which do not delay other receivers", async () => {
    await faults.deployment.startApi()
    const hostile = ["hang", "drip", "reset", "redirect", "rubbish", "endless", "busy", "gone", "flaky"]
    const crowd = await organization("ok", ...hostile)
    const healthy = await organization("ok")
    await Promise.all([faults.deployment.startWorker(), faults.deployment.startWorker()])
    const { stop } = load([crowd.key, healthy.key], 8)
    await sleep(800)
    await stop()
    await faults.deployment.finished(60_000)
    await assertConsistent([crowd, healthy])

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
    for (const [index, behavior] of ["ok", ...hostile].entries()) {
      const { rows } = await faults.deployment.pool.query<Record<string, unknown>>(
        `SELECT DISTINCT status, last_http_status AS http, last_error_summary AS summary, attempt_count AS attempts
         FROM deliveries WHERE endpoint_id = $1`,
        [crowd.endpoints[index]!.id]
      )
      const [status, http, summary, attempts] = expected[behavior]!
      assert.deepStrictEqual(rows, [{ status, http, summary, attempts }], behavior)
    }
    // The slowest of the healthy endpoint arrives sooner than any that hangs is given up.
    const timesOf = async (endpoint: { readonly id: string }) => {
      const { rows } = await faults.deployment.pool.query<{ seconds: number }>(
        `SELECT extract(epoch FROM updated_at - created_at)::float AS seconds FROM deliveries WHERE endpoint_id = $1`,
        [endpoint.id]
      )
      return rows.map(({ seconds }) => seconds)
    }
    const hanging = await timesOf(crowd.endpoints[1 + hostile.indexOf("hang")]!)
    assert.isBelow(Math.max(...(await timesOf(healthy.endpoints[0]!))), Math.min(...hanging))
    await assertRepeatsCounted([crowd, healthy])
  })
})
