/** What owners should know: by mail, in the API and by `govoice notices`, with a bundled server and an SMTP server. */
import { spawnSync } from "node:child_process"
import { randomUUID } from "node:crypto"
import { Pool } from "pg"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type Mailbox, openMailbox } from "../support/mailbox.ts"
import { builtCommand } from "./support/build.ts"
import { openMigrated, type TestDatabase } from "./support/databases.ts"
import { startServer } from "./support/server.ts"

const password = "correct horse battery"
const control = "/v1/control-plane"

describe("an owner whose endpoint fails", () => {
  let command: string
  let mailbox: Mailbox
  let database: TestDatabase
  let pool: Pool
  beforeAll(async () => {
    command = await builtCommand()
    mailbox = await openMailbox()
    database = await openMigrated()
    pool = new Pool({ connectionString: database.settings["DATABASE_URL"], max: 1 })
  })
  afterAll(async () => {
    await mailbox?.close()
    await pool?.end()
    await database?.drop()
  })

  const notices = (...flags: ReadonlyArray<string>): string => {
    const { status, stderr, stdout } = spawnSync(process.execPath, [command, "notices", ...flags], {
      env: { PATH: process.env["PATH"], NO_COLOR: "1", ...database.settings },
      encoding: "utf8"
    })
    assert.strictEqual(status, 0, stderr)
    return stdout
  }

  it("sees it in the API, and is mailed once, in the language of the console", async () => {
    const email = `owner-${randomUUID()}@example.com`
    assert.strictEqual(notices(), "There are no notices.\n")

    const silent = await startServer(database.settings)
    const call = async (method: string, path: string, body?: object, token?: string) => {
      const answer = await fetch(`${silent.url}${path}`, {
        method,
        headers: {
          "content-type": "application/json",
          origin: silent.url,
          ...(token && { authorization: `Bearer ${token}` })
        },
        ...(body && { body: JSON.stringify(body) })
      })
      assert.isBelow(answer.status, 300, path)
      return (await answer.json()) as Readonly<Record<string, unknown>>
    }
    await call("POST", `${control}/accounts`, { email, password })
    const session = await call("POST", "/console/session", { email, password, language: "pl" })
    const token = String(session["access_token"])
    const { id: organization } = await call("POST", `${control}/organizations`, { name: "Przykład" }, token)
    const path = `${control}/organizations/${String(organization)}`
    const body = { url: "https://hooks.example.com/secret?token=1", event_types: ["*"] }
    const { id: endpoint } = await call("POST", `${path}/webhook-endpoints`, body, token)
    const since = "2026-11-01T10:00:00.000Z"
    await pool.query("UPDATE webhook_endpoints SET failing_since = $1, failed_at = $1 WHERE id = $2", [since, endpoint])

    const overview = await call("GET", `${path}/overview`, undefined, token)
    assert.deepStrictEqual(overview["notices"], [
      { type: "endpoint_failing", endpoint_id: endpoint, since, expires_at: null }
    ])
    await silent.stop()

    const printed = notices()
    assert.include(printed, "hooks.example.com\n  endpoint fails               since 2026-11-01 10:00 UTC\n")
    assert.isTrue(printed.split("\n").every((line) => line.length <= 80))
    assert.notInclude(printed, "secret")

    const server = await startServer({
      ...database.settings,
      ...mailbox.settings,
      GOVOICE_PUBLIC_URL: "https://govoice.example.com"
    })
    await mailbox.until(1)
    const { text, to } = mailbox.mails[0]!
    assert.deepStrictEqual(to, [email])
    assert.include(
      text,
      "Od 1 listopada 2026 11:00 CET żaden webhook organizacji Przykład nie dotarł na hooks.example.com."
    )
    assert.include(text, `https://govoice.example.com/console/o/${String(organization)}/endpoints/${String(endpoint)}`)
    assert.notInclude(text, "secret")
    await server.stop()

    const [told] = JSON.parse(notices("--json")) as ReadonlyArray<object>
    assert.deepInclude(told, { type: "endpoint_failing", since, told: true })
    assert.strictEqual(mailbox.mails.length, 1)
  })
})
