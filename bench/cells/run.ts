/**
 * Measures the processor time of an invoice in two cells beside that in two deployments without cells, and prints a report in
 * Markdown: API, worker and Postgres together, from the submission to the last of four webhooks.
 *
 * `node --conditions=source bench/cells/run.ts`. Needs `postgresql` of the distribution. Exits with 1 when the ratio misses its goal.
 *
 * Two deployments and not one, because processors that are twice as busy make larger batches, which cost half as much. Limits:
 * everything is on one machine, without a proxy, and other work on it shares the processors.
 */
import { randomBytes } from "node:crypto"
import { readFileSync } from "node:fs"
import { cpus } from "node:os"
import { join } from "node:path"
import { Cluster, installedPrograms } from "../../test/support/cluster.ts"
import { freePort } from "../../test/support/freePort.ts"
import { environment } from "../engine/database.ts"
import {
  childrenOf,
  cpuWithChildren,
  runCommand,
  sleep,
  startReceiver,
  startServer,
  until
} from "../engine/processes.ts"
import { judge } from "../ratios.ts"
import { command, exitOnSignals, inTurn } from "../variants.ts"

const rounds = 5
const perSecond = 30
const seconds = 15
const eventsOfInvoice = 4

exitOnSignals()
if (installedPrograms === undefined) throw new Error("The benchmark needs Postgres: run apt-get install postgresql")

const receiver = await startReceiver()
const closers: Array<() => Promise<unknown>> = []

const call = async <A>(url: string, method: string, path: string, token?: string, body?: object): Promise<A> => {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      "content-type": "application/json",
      "idempotency-key": randomBytes(12).toString("hex"),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` })
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
  if (response.status > 201) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return (await response.json()) as A
}

/** Starts Postgres, an API process and a worker. `prepare` runs before the processes, with their settings. */
const start = async (
  settings: Readonly<Record<string, string>> = {},
  prepare = (_environment: Readonly<Record<string, string>>, _url: string) => {}
) => {
  const cluster = await Cluster.create(installedPrograms!, { wal_level: "logical", shared_buffers: "128MB" })
  closers.push(() => cluster.remove())
  const port = String(await freePort())
  const url = `http://127.0.0.1:${port}`
  const all = { ...environment, GOVOICE_SANDBOX_STEP_MS: "50", DATABASE_URL: cluster.url, PORT: port, ...settings }
  prepare(all, url)
  const api = startServer({ ...all, GOVOICE_ROLE: "api" })
  const worker = startServer({ ...all, GOVOICE_ROLE: "worker" })
  closers.push(api.stop, worker.stop)
  await until("the API", async () => (await fetch(`${url}/readyz`).catch(() => undefined))?.status === 200, 60_000)
  const postmaster = Number(readFileSync(join(cluster.directory, "postmaster.pid"), "utf8").split("\n", 1)[0])
  return {
    cluster,
    url,
    cpu: () =>
      api.cpu() +
      worker.cpu() +
      [postmaster, ...childrenOf(postmaster)].reduce((sum, pid) => sum + cpuWithChildren(pid), 0)
  }
}
type Deployment = Awaited<ReturnType<typeof start>>

const owner = { email: "owner@example.com", password: "correct horse battery" }

const logIn = async ({ url }: Deployment): Promise<string> => {
  await call(url, "POST", "/v1/control-plane/accounts", undefined, owner)
  const path = "/v1/control-plane/auth/login"
  return (await call<{ access_token: string }>(url, "POST", path, undefined, owner)).access_token
}

/** Makes four organizations, each with an endpoint, and returns their keys. Created where the accounts are, they live in `home`. */
const keysOf = async (
  control: Deployment,
  home: Deployment,
  token: string,
  isAtHome: (id: string) => Promise<boolean>
) => {
  const keys: Array<string> = []
  while (keys.length < 4) {
    const path = "/v1/control-plane/organizations"
    const { id } = await call<{ id: string }>(control.url, "POST", path, token, { name: "bench" })
    if (!(await isAtHome(id))) continue
    await call(home.url, "POST", `${path}/${id}/webhook-endpoints`, token, { url: receiver.url, event_types: ["*"] })
    keys.push(
      (await call<{ secret: string }>(home.url, "POST", `${path}/${id}/api-keys`, token, { mode: "test" })).secret
    )
  }
  return keys
}

/** Submits at a steady rate to each, waits for all webhooks, and returns the milliseconds of processor time of an invoice. */
const measure = async (
  loads: ReadonlyArray<{ readonly deployment: Deployment; readonly keys: ReadonlyArray<string> }>
) => {
  await receiver.reset()
  const cpuOfAll = () => loads.reduce((sum, { deployment }) => sum + deployment.cpu(), 0)
  const before = cpuOfAll()
  const sent: Array<Promise<unknown>> = []
  const startedAt = Date.now()
  for (let n = 0; n < perSecond * seconds; n++) {
    for (const { deployment, keys } of loads) {
      const key = keys[n % keys.length]
      sent.push(call(deployment.url, "POST", "/v1/invoices", key, { invoice_xml: "<Faktura>bench</Faktura>" }))
    }
    await sleep(Math.max(0, startedAt + ((n + 1) * 1000) / perSecond - Date.now()))
  }
  await Promise.all(sent)
  await until("the webhooks", async () => (await receiver.count()) >= sent.length * eventsOfInvoice, 120_000)
  return ((cpuOfAll() - before) * 1000) / sent.length
}

try {
  const alone = [await start(), await start()]
  const control = await start({ GOVOICE_CELL: "a" }, (settings, url) => runCommand(`cells init --url ${url}`, settings))
  const other = await start({ GOVOICE_CELL: "b", GOVOICE_CONTROL_DATABASE_URL: control.cluster.url }, (settings, url) =>
    runCommand(`cells add --url ${url}`, settings)
  )
  const isIn = (cell: string) => async (id: string) => {
    const bucket = id.slice(14, 16)
    const { rows } = await control.cluster.query(`SELECT cell FROM cell_buckets WHERE bucket = '${bucket}'`)
    return (rows as ReadonlyArray<{ cell: string }>)[0]!.cell === cell
  }
  const token = await logIn(control)
  const variants = {
    apart: await Promise.all(
      alone.map(async (deployment) => ({
        deployment,
        keys: await keysOf(deployment, deployment, await logIn(deployment), () => Promise.resolve(true))
      }))
    ),
    cells: [
      { deployment: control, keys: await keysOf(control, control, token, isIn("a")) },
      { deployment: other, keys: await keysOf(control, other, token, isIn("b")) }
    ]
  }
  const figures: { readonly [K in keyof typeof variants]: Array<number> } = { apart: [], cells: [] }
  // Compiles the code, and fills caches.
  for (const loads of Object.values(variants)) await measure(loads)
  for (let round = 0; round < rounds; round++) {
    for (const name of inTurn(["apart", "cells"] as const, round)) figures[name].push(await measure(variants[name]))
  }
  const verdict = judge([
    {
      figure: "processor time of an invoice with four deliveries in two cells, ms",
      measured: figures.cells,
      reference: "in two deployments",
      beside: figures.apart,
      atMost: 1.05
    }
  ])
  console.log(`\`${command}\`, ${cpus().length} × ${cpus()[0]?.model.trim()}, Node ${process.versions.node}.`)
  console.log(`${perSecond} invoices a second for ${seconds} s to each.\n`)
  console.log(verdict.report)
  process.exitCode = verdict.exitCode
} finally {
  receiver.stop()
  for (const close of closers.toReversed()) await close()
}
