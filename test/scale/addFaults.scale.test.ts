/** A cell is added although something in the control cell is in the way at first. */
import { randomBytes } from "node:crypto"
import { Client } from "pg"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { Cluster, installedPrograms } from "../support/cluster.ts"
import { Cell, clusterSettings, isInstalled, named } from "./cells.ts"

describe.skipIf(!isInstalled)(named("a cell that cannot subscribe"), () => {
  let a: Cell
  let b: Cell
  let client: Client

  beforeAll(async () => {
    const secrets = {
      GOVOICE_JWT_SECRET: randomBytes(48).toString("base64url"),
      GOVOICE_ENCRYPTION_KEYS: `k1:${randomBytes(32).toString("base64")}`
    }
    const cluster = () => Cluster.create(installedPrograms!, clusterSettings)
    a = new Cell("a", await cluster(), "3000", secrets)
    b = new Cell("b", await cluster(), "3000", { ...secrets, GOVOICE_CONTROL_DATABASE_URL: a.cluster.url })
    await a.deployment.run("cells init --url http://127.0.0.1:3000")
    client = new Client({ connectionString: a.cluster.url })
    await client.connect()
  })
  afterAll(async () => {
    await client?.end()
    await b?.close()
    await a?.close()
  })

  const add = () =>
    b.deployment
      .run("cells add --url http://127.0.0.1:3001")
      .then(() => "added")
      .catch(String)

  it("says what is in the way, and is added once that is gone", async () => {
    await client.query("SELECT pg_create_logical_replication_slot('govoice_b', 'pgoutput')")
    assert.include(await add(), "SELECT pg_drop_replication_slot('govoice_b')")
    await client.query("SELECT pg_drop_replication_slot('govoice_b')")

    await client.query("BEGIN")
    await client.query("SELECT pg_current_xact_id()")
    assert.include(await add(), "A transaction of the control cell takes long")
    await client.query("ROLLBACK")
    for (let slots: number | null = 1; slots !== 0;) {
      slots = (await client.query("SELECT 1 FROM pg_replication_slots")).rowCount
    }
    assert.strictEqual(await add(), "added")
  })
})
