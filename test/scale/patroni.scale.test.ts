/** The primary of a Patroni cluster fails in five ways under a load of submissions. */
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { startProxy } from "../e2e/support/proxy.ts"
import { ask, failedAfter, servedAfter } from "../faults/ask.ts"
import { Deployment, leaseMs, maxAttempts, sleep, until } from "../faults/deployment.ts"
import * as Invariants from "../faults/invariants.ts"
import { startLoad } from "../faults/load.ts"
import { type Receiver, startReceiver } from "../faults/receiver.ts"
import { isInstalled, type Member, named, PatroniCluster } from "./patroni.ts"

const withinMs = 15_000

const everyMs = 250

interface Fault {
  readonly what: string
  readonly begin: (cluster: PatroniCluster, primary: Member) => Promise<void> | void
  /** The machine returns. */
  readonly end: (primary: Member) => void
}

const both = () => "both" as const

const faults: ReadonlyArray<Fault> = [
  {
    what: "is killed with its machine",
    begin: (_, primary) => primary.kill(),
    end: (primary) => primary.start()
  },
  {
    what: "stops without a word",
    begin: (_, primary) => primary.signal("SIGSTOP"),
    end: (primary) => primary.signal("SIGCONT")
  },
  {
    what: "loses all packets",
    begin: (_, { addresses }) => {
      for (const swallower of [addresses.postgres, addresses.etcd]) swallower.swallow(both, 1, true)
    },
    end: ({ addresses }) => {
      for (const swallower of [addresses.postgres, addresses.etcd]) swallower.heal()
    }
  },
  {
    what: "is switched over on purpose",
    begin: (cluster, primary) => cluster.switchOver(primary),
    end: () => {}
  },
  {
    what: "cannot reach etcd",
    begin: (_, { addresses }) => addresses.etcd.swallow(both, 1, true),
    end: ({ addresses }) => addresses.etcd.heal()
  }
]

describe.skipIf(!isInstalled)(named("a primary of Patroni"), () => {
  let cluster: PatroniCluster
  let deployment: Deployment
  let receiver: Receiver
  let paths = 0
  /** The ids of the invoices that were acknowledged so far, by fault. */
  const acknowledged = new Map<string, ReadonlyArray<string>>()
  // Leads the queries of the test to the primary.
  let leader: Awaited<ReturnType<typeof startProxy>>
  const cleanUps: Array<() => Promise<void>> = []

  beforeAll(async () => {
    cluster = await PatroniCluster.start()
    cleanUps.push(() => cluster.close())
    receiver = await startReceiver()
    cleanUps.push(() => receiver.close())
    leader = await startProxy(cluster.urlOf(await cluster.primary()))
    cleanUps.push(() => Promise.resolve(leader.close()))
    deployment = new Deployment(leader.url, {
      DATABASE_URL: cluster.url,
      GOVOICE_CONNECTIONS_PER_ADDRESS: "10000"
    })
    cleanUps.push(() => deployment.close())
    await deployment.startApi()
    await Promise.all([deployment.startWorker(), deployment.startWorker()])
  })
  afterAll(async () => {
    for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp()
  })

  const organization = async () => {
    const urls = [`/ok?${(paths += 1)}`, `/flaky?${(paths += 1)}`]
    const made = await deployment.organization(urls.map((path) => receiver.url(path)))
    for (const [index, path] of urls.entries()) receiver.learn(path, made.endpoints[index]!.secret)
    return made
  }

  const lead = async (member: Member) => {
    leader.leadTo(cluster.urlOf(member))
    // The pool notices a moment later that its connections are closed.
    await sleep(500)
    await until("the primary", async () => (await deployment.count("organizations")) >= 0, 10_000)
  }

  const assertNothingLost = async () => {
    const { rows } = await deployment.pool.query<{ id: string }>("SELECT id FROM invoices")
    const found = new Set(rows.map(({ id }) => id))
    const expected = [...acknowledged].flatMap(([fault, ids]) => ids.map((id) => ({ fault, id })))
    assert.isEmpty(expected.filter(({ id }) => !found.has(id)))
    assert.lengthOf(rows, expected.length)
  }

  it.each(faults)("$what: nothing is lost, and all is served within 15 s", async ({ begin, end, what }) => {
    const before = await cluster.primary()
    const organizations = [await organization(), await organization(), await organization()]
    const asking = organizations.flatMap(({ id, key, token }) => [
      ask(deployment, "/v1/invoices", key, everyMs),
      ask(deployment, `/v1/control-plane/organizations/${id}`, token, everyMs)
    ])
    const load = startLoad(
      deployment,
      organizations.map(({ key }) => key),
      30
    )
    const reached = (count: number) =>
      until(`${count} submissions`, () => Promise.resolve(load.submitted() >= count), 60_000)
    await reached(60)

    const brokenAt = Date.now()
    await begin(cluster, before)
    const after = await cluster.primary(before)
    const primaryAt = Date.now()
    await lead(after)

    await sleep(withinMs + 3000)
    await Promise.all(asking.map(({ stop }) => stop()))
    const served = asking.map(({ answers }) => servedAfter(answers, primaryAt))
    console.info(
      `Primary after ${primaryAt - brokenAt} ms; all keys and sessions served ${Math.max(...served)} ms later; ` +
        `${asking.flatMap(({ answers }) => failedAfter(answers, brokenAt)).length} requests failed.`
    )
    assert.isBelow(Math.max(...served), withinMs)
    for (const { answers } of asking) assert.deepStrictEqual(failedAfter(answers, primaryAt + withinMs), [])

    await reached(load.submitted() + 60)
    await load.stop()
    acknowledged.set(what, load.ids)
    await deployment.finished(leaseMs * 3 + 60_000)

    await assertNothingLost()
    assert.strictEqual(await deployment.count("deliveries WHERE status <> 'succeeded'"), 0)
    assert.deepStrictEqual(receiver.faults, [])
    await Invariants.check(deployment.pool, { maxAttempts })
    for (const { child } of deployment.processes) assert.isNull(child.exitCode ?? child.signalCode)

    // A machine that returns must not take over with what it had.
    end(before)
    await cluster.healthy()
    await lead(await cluster.primary())
    await assertNothingLost()
  })
})
