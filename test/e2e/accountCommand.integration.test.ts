/** `govoice account create`, which stores several rows. */
import { spawnSync } from "node:child_process"
import { randomBytes } from "node:crypto"
import { assert, it, onTestFinished } from "vitest"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createMigrated } from "../support/databases.ts"
import { builtCommand } from "./support/build.ts"
import { startServer } from "./support/server.ts"

it("account create can be run again after it was interrupted", async () => {
  const govoice = await builtCommand()
  const database = await createMigrated()
  onTestFinished(() => database.drop())
  const create = () =>
    spawnSync(process.execPath, [govoice, "account", "create", "owner@example.com", "--organization", "Company"], {
      input: "correct horse battery\n",
      encoding: "utf8",
      env: {
        ...process.env,
        DATABASE_URL: database.url,
        GOVOICE_JWT_SECRET: randomBytes(48).toString("base64url"),
        GOVOICE_ENCRYPTION_KEYS: `k1:${randomBytes(32).toString("base64")}`
      }
    })
  // The session ends at the last of the rows.
  await database.run(`
    CREATE FUNCTION end_session() RETURNS trigger LANGUAGE plpgsql
    AS 'BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NEW; END'
  `)
  await database.run("CREATE TRIGGER ends BEFORE INSERT ON api_keys FOR EACH ROW EXECUTE FUNCTION end_session()")
  const interrupted = create()
  assert.notStrictEqual(interrupted.status, 0)
  assert.strictEqual(interrupted.stdout, "")
  await database.run("DROP TRIGGER ends ON api_keys")
  const created = create()
  assert.strictEqual(created.status, 0, created.stderr)
  assert.match(created.stdout, /^account +acct_\w+\norganization +org_\w+\ntest key +sk_test_\w+\n$/)
})

it("account create names the running server first, and then the password that is missing", async () => {
  const govoice = await builtCommand()
  const dataDir = mkdtempSync(join(tmpdir(), "govoice-account-"))
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }))
  const create = () =>
    spawnSync(process.execPath, [govoice, "account", "create", "owner@example.com"], {
      input: "",
      encoding: "utf8",
      env: { ...process.env, GOVOICE_DATA_DIR: dataDir }
    })
  const server = await startServer({ GOVOICE_DATA_DIR: dataDir })
  const refused = create()
  await server.stop()
  assert.match(refused.stderr, /^.+ is in use by .+: stop the server, or use its API\.\n$/)
  const missing = create()
  assert.deepStrictEqual(
    [missing.status, missing.stderr],
    [1, "The account cannot be created: no password on standard input.\n"]
  )
})
