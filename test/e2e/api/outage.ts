/** A server whose database is away, hangs, or is older. */
import { Client } from "pg"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { createMigrated } from "../../support/databases.ts"
import { type Agreement, problemOf } from "../support/agreement.ts"
import { type Call, makeCall, readAgreement, signUp, submit, type Tenant, until } from "../support/client.ts"
import { operationsOf, optionsOf } from "../support/operations.ts"
import { startProxy } from "../support/proxy.ts"
import { secrets, type Server, startServer } from "../support/server.ts"
import { codeOf, control, record } from "./suite.ts"

/** Registers the tests. */
export const testOutage = (onAgreement: (agreement: Agreement) => void): void => {
  describe("a server that loses its database", () => {
    let database: Awaited<ReturnType<typeof createMigrated>>
    let proxy: Awaited<ReturnType<typeof startProxy>>
    let server: Server
    let agreement: Agreement
    let call: Call
    let tenant: Tenant
    let invoiceId: string

    beforeAll(async () => {
      database = await createMigrated()
      proxy = await startProxy(database.url)
      server = await startServer({ DATABASE_URL: proxy.url, ...secrets })
      agreement = await readAgreement(server.url)
      onAgreement(agreement)
      call = makeCall(() => server.url, agreement)
      tenant = await signUp(call)
      invoiceId = String(record(await submit(call, tenant.testKey))["id"])
    })

    afterAll(async () => {
      await server?.stop()
      proxy?.close()
      await database?.drop()
    })

    const everyOperation = () =>
      Promise.all(
        operationsOf(tenant, invoiceId).map(async (operation) => {
          const options = optionsOf(operation, { key: tenant.testKey, token: tenant.token })
          return { id: operation.id, answer: await call(operation.method, operation.path, options) }
        })
      )

    it("answers service_unavailable to every request until the database is back, and then works again", async () => {
      proxy.cut()
      for (const { answer, id } of await everyOperation()) assert.strictEqual(codeOf(answer), "service_unavailable", id)
      // A credential is cached for five seconds. After that it cannot be looked up either.
      await new Promise((resolve) => setTimeout(resolve, 5200))
      for (const { answer, id } of await everyOperation()) assert.strictEqual(codeOf(answer), "service_unavailable", id)
      const ready = await call("GET", "/readyz")
      assert.strictEqual(codeOf(ready), "service_unavailable")
      assert.include(problemOf(ready).message, "cannot be reached")
      assert.lengthOf(server.output().match(/Database unavailable/g) ?? [], 1, "not once for every request")
      assert.strictEqual((await call("GET", "/healthz")).status, 200)

      proxy.open()
      const back = Date.now()
      await until(
        () => submit(call, tenant.testKey),
        ({ status }) => status === 201
      )
      assert.isBelow(Date.now() - back, 20_000)
      assert.lengthOf(server.output().match(/Database available again/g) ?? [], 1)
      assert.strictEqual((await call("GET", `${control}/account`, { auth: tenant.token })).status, 200)
      await until(
        () => call("GET", "/readyz"),
        ({ status }) => status === 200
      )
    })

    it("answers every request in limited time while the database hangs, and works again when it is back", async () => {
      await Promise.all(
        Array.from({ length: 5 }, () => call("GET", `/v1/invoices/${invoiceId}`, { auth: tenant.testKey }))
      )
      // So that the workers have something under way as well.
      await Promise.all(Array.from({ length: 50 }, () => submit(call, tenant.testKey)))
      proxy.hold()
      const begun = Date.now()
      const answers = await Promise.all([
        // One after the other, so that more of them are under way than are written at once.
        ...Array.from({ length: 8 }, async (_, index) => {
          await new Promise((resolve) => setTimeout(resolve, index * 50))
          return submit(call, tenant.testKey)
        }),
        call("GET", `/v1/invoices/${invoiceId}`, { auth: tenant.testKey }),
        call("GET", `${control}/organizations`, { auth: tenant.token })
      ])
      assert.deepStrictEqual(answers.map(codeOf), Array<string>(10).fill("service_unavailable"))
      assert.isBelow(Date.now() - begun, 60_000)
      const asked = Date.now()
      assert.strictEqual((await fetch(`${server.url}/readyz`)).status, 503)
      assert.isBelow(Date.now() - asked, 20_000)
      // The connections that were in use stay as they are: nobody ends them but the server itself.
      proxy.pass()
      const taken = await until(
        () => submit(call, tenant.testKey),
        ({ status }) => status === 201,
        60_000
      )
      await until(
        () => call("GET", taken.headers.get("location")!, { auth: tenant.testKey }),
        (answer) => record(answer)["status"] === "accepted",
        60_000
      )
    })

    it("times out a statement that waits for a lock, and no other", async () => {
      const blocker = new Client({ connectionString: database.url })
      await blocker.connect()
      await blocker.query("BEGIN")
      await blocker.query(`SELECT 1 FROM organizations WHERE id = '${tenant.organizationId}' FOR UPDATE`)
      const path = `${control}/organizations/${tenant.organizationId}`
      const blocked = call("PATCH", path, { auth: tenant.token, body: { name: "Blocked" } })
      assert.strictEqual((await call("GET", path, { auth: tenant.token })).status, 200)
      assert.strictEqual(codeOf(await blocked), "service_unavailable")
      await blocker.query("ROLLBACK")
      await blocker.end()
      assert.strictEqual(record(await call("GET", path, { auth: tenant.token }))["name"], "Example")
    })

    it("is not ready with a schema older than its own", async () => {
      await database.run("UPDATE schema_migrations SET migration_id = migration_id - 1000")
      const answer = await until(
        () => call("GET", "/readyz"),
        ({ status }) => status !== 200
      )
      assert.strictEqual(codeOf(answer), "service_unavailable")
      assert.include(problemOf(answer).message, "schema")
      await database.run("UPDATE schema_migrations SET migration_id = migration_id + 1000")
      await until(
        () => call("GET", "/readyz"),
        ({ status }) => status === 200
      )
    })

    it("answers internal_error to a defect, and logs the cause once, with the request id", async () => {
      await database.run("ALTER SCHEMA public RENAME TO elsewhere")
      const before = server.output().length
      const answers = await everyOperation()
      await database.run("ALTER SCHEMA elsewhere RENAME TO public")
      for (const { answer, id } of answers) {
        assert.strictEqual(codeOf(answer), "internal_error", id)
        assert.notMatch(answer.text, /relation|schema|select|SqlError| at /i)
      }
      const log = server.output().slice(before)
      for (const { answer, id } of answers) {
        const lines = log.split("\n").filter((line) => line.includes(problemOf(answer).request_id))
        assert.lengthOf(lines, 1, id)
        assert.include(lines[0], "does not exist")
      }
    })
  })
}
