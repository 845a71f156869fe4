/** A streaming replica serves lists of the control plane: while it follows, and not while it is behind, stopped or gone. */
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { ask } from "../faults/ask.ts"
import { Deployment, sleep, until } from "../faults/deployment.ts"
import { Cluster, embeddedPrograms } from "../support/cluster.ts"
import { startStandby } from "../support/standby.ts"

/** A read waits two seconds for the replica before it goes to the primary. */
const slowestMs = 5000

describe("a replica for lists", () => {
  const cleanUps: Array<() => Promise<void>> = []
  let primary: Cluster
  let standby: Cluster
  let deployment: Deployment
  let organization: Awaited<ReturnType<Deployment["organization"]>>

  beforeAll(async () => {
    primary = await Cluster.create(embeddedPrograms(), { wal_keep_size: "512MB" })
    cleanUps.push(() => primary.remove())
    standby = await startStandby(primary, new URL(primary.url).port)
    cleanUps.push(() => standby.remove())
    deployment = new Deployment(primary.url, { GOVOICE_LOG_LEVEL: "Info" })
    cleanUps.push(() => deployment.close())
    await deployment.startApi({ GOVOICE_DATABASE_REPLICA_URL: standby.url })
    organization = await deployment.organization(["http://127.0.0.1:9/"])
    await used()
  })
  afterAll(async () => {
    for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp()
  })

  const path = (of: string) => `/v1/control-plane/organizations/${organization.id}/${of}`

  const list = async (query = "") => {
    const { body, status } = await deployment.call<{ readonly data: ReadonlyArray<{ readonly id: string }> }>(
      "GET",
      path(`invoices${query}`),
      { token: organization.token }
    )
    assert.strictEqual(status, 200)
    return body.data.map(({ id }) => id)
  }

  const pause = async () => {
    await standby.query("SELECT pg_wal_replay_pause()")
    await until(
      "a paused replay",
      async () => (await standby.query("SELECT WHERE pg_get_wal_replay_pause_state() = 'paused'")).rowCount === 1,
      5000
    )
  }
  const resume = () => standby.query("SELECT pg_wal_replay_resume()")

  /** Waits until the list is late: the replica serves it, since its replay is paused. */
  const used = () =>
    until(
      "a replica that is used",
      async () => {
        await resume()
        const id = await deployment.submit(organization.key, "accepted")
        await until("the invoice", async () => (await list()).includes(id), 15_000)
        await pause()
        const late = await deployment.submit(organization.key, "accepted")
        const isLate = !(await list()).includes(late)
        await resume()
        return isLate
      },
      60_000
    )

  // Asks for lists while something happens. No answer may fail or be late.
  const whileAsking = async (happens: () => Promise<unknown>) => {
    const asking = ["invoices", "deliveries", "invoices?status=accepted"].map((of) =>
      ask(deployment, path(of), organization.token, 100)
    )
    await sleep(500)
    await happens()
    // Longer than the replica may be behind.
    await sleep(12_000)
    await Promise.all(asking.map(({ stop }) => stop()))
    const answers = asking.flatMap((one) => one.answers)
    assert.isAbove(answers.length, 200)
    assert.deepStrictEqual(
      answers.filter(({ status }) => status !== 200),
      []
    )
    const slowest = Math.max(...answers.map(({ beganAt, endedAt }) => endedAt - beganAt))
    console.info(`${answers.length} answers, the slowest after ${slowest} ms`)
    assert.isBelow(slowest, slowestMs)
  }

  it("serves lists that are at most ten seconds late, and nothing that names one invoice", async () => {
    await used()
    await pause()
    const pausedAt = Date.now()
    const id = await deployment.submit(organization.key, "accepted")
    const { rows } = await deployment.pool.query<{ key: string }>(
      "SELECT key FROM idempotency_records WHERE invoice_id = $1",
      [id]
    )
    assert.notInclude(await list(), id)
    assert.deepStrictEqual(await list(`?mode=test&idempotency_key=${rows[0]!.key}`), [id])
    assert.include(await list("?created_after=2026-01-01T00:00:00Z"), id)
    const one = await deployment.call("GET", path(`invoices/${id}`), { token: organization.token })
    assert.strictEqual(one.status, 200)
    const ofKey = await deployment.call<{ readonly data: ReadonlyArray<{ readonly id: string }> }>(
      "GET",
      "/v1/invoices",
      { token: organization.key }
    )
    assert.include(
      ofKey.body.data.map((invoice) => invoice.id),
      id
    )

    await until("the primary's list", async () => (await list()).includes(id), 15_000)
    assert.isBelow(Date.now() - pausedAt, 12_500)
    assert.match(
      await deployment.run("doctor", { GOVOICE_DATABASE_REPLICA_URL: standby.url }),
      /^WARN {2}replica {4}It is more than 10 s behind/m
    )
    await used()
    assert.match(
      await deployment.run("doctor", { GOVOICE_DATABASE_REPLICA_URL: standby.url }),
      /^ok {4}replica {4}streams/m
    )
  })

  it("counts a new endpoint whose row the replica lacks", async () => {
    await used()
    await pause()
    const { body } = await deployment.call<{ readonly id: string }>("POST", path("webhook-endpoints"), {
      token: organization.token,
      body: { url: "http://127.0.0.1:9/new", event_types: ["*"] }
    })
    const stats = await deployment.call("GET", `/v1/control-plane/webhook-endpoints/${body.id}/delivery-stats`, {
      token: organization.token
    })
    assert.strictEqual(stats.status, 200)
    const overview = await deployment.call<{ readonly endpoints: ReadonlyArray<{ readonly endpoint_id: string }> }>(
      "GET",
      path("overview"),
      { token: organization.token }
    )
    assert.include(
      overview.body.endpoints.map((endpoint) => endpoint.endpoint_id),
      body.id
    )
    await resume()
  })

  it("is not waited for when it is killed, and is used again", async () => {
    await whileAsking(() => standby.end("SIGKILL"))
    await standby.start({ primary_conninfo: `host=127.0.0.1 port=${new URL(primary.url).port} user=postgres` })
    await used()
  })

  it("is not waited for when it stops without a word, and is used again", async () => {
    await whileAsking(() => Promise.resolve(standby.signal("SIGSTOP")))
    standby.signal("SIGCONT")
    await used()
  })

  it("is not used if it is the primary, another database or nowhere", async () => {
    const other = await Cluster.create(embeddedPrograms())
    cleanUps.push(() => other.remove())
    for (const [url, reason] of [
      [primary.url, "It is no replica"],
      [other.url, "It is the server of another database"],
      ["postgres://postgres@127.0.0.1:9/postgres", "ECONNREFUSED"]
    ] as const) {
      const started = await deployment.startApi({ GOVOICE_DATABASE_REPLICA_URL: url })
      await until("the log", () => Promise.resolve(started.text.includes(reason)), 10_000)
      assert.isNotEmpty(await list())
      assert.match(
        await deployment.run("doctor", { GOVOICE_DATABASE_REPLICA_URL: url }),
        new RegExp(`^WARN {2}replica {4}It is not used: .*${reason}`, "m")
      )
    }
  })
})
