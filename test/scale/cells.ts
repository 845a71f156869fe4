/** Two cells on this machine: a cluster of Postgres and processes of the server for each. */
import { randomBytes } from "node:crypto"
import { Deployment, type Environment } from "../faults/deployment.ts"
import { Cluster, installedPrograms } from "../support/cluster.ts"
import { freePort } from "../support/freePort.ts"
import type { ServerProcess } from "../support/serverProcess.ts"

/** A cell: its cluster, its settings, and its processes. */
export class Cell {
  readonly name: string
  readonly cluster: Cluster
  readonly deployment: Deployment
  /** The port of its API. */
  readonly port: string

  constructor(name: string, cluster: Cluster, port: string, settings: Environment) {
    this.name = name
    this.cluster = cluster
    this.port = port
    this.deployment = new Deployment(cluster.url, { ...settings, GOVOICE_CELL: name, PORT: port })
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`
  }

  /** Starts a process that serves the API, and a worker. */
  async start(): Promise<ReadonlyArray<ServerProcess>> {
    return [await this.deployment.startApi(), await this.deployment.startWorker({ PORT: "0" })]
  }

  async close(): Promise<void> {
    await this.deployment.close()
    await this.cluster.remove()
  }
}

/** The cells `a`, the control cell, and `b`. */
export interface Cells {
  readonly a: Cell
  readonly b: Cell
  readonly close: () => Promise<void>
}

/** Starts the clusters of two cells and their processes. `b` is added to `a`, and has half of the buckets. */
export const startCells = async (given: Environment = {}): Promise<Cells> => {
  const secrets = {
    GOVOICE_JWT_SECRET: randomBytes(48).toString("base64url"),
    GOVOICE_ENCRYPTION_KEYS: `k1:${randomBytes(32).toString("base64")}`,
    ...given
  }
  const cluster = () => Cluster.create(installedPrograms!, { wal_level: "logical" })
  const control = await cluster()
  const a = new Cell("a", control, String(await freePort()), secrets)
  const settings = { ...secrets, GOVOICE_CONTROL_DATABASE_URL: control.url }
  const b = new Cell("b", await cluster(), String(await freePort()), settings)
  const close = async () => void (await Promise.all([b.close(), a.close()]))
  try {
    await a.deployment.run(`cells init --url ${a.url}`)
    await b.deployment.run(`cells add --url ${b.url}`)
    await Promise.all([a.start(), b.start()])
    return { a, b, close }
  } catch (error) {
    await close()
    throw error
  }
}
