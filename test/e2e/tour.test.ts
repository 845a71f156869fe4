/** Runs the tour of integrators in a shell against a server. */
import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type RunningServer, startServer } from "../../examples/demo/src/startServer.ts"

const root = resolve(import.meta.dirname, "../..")

const tour =
  /```sh\n(export GOVOICE_URL=[^]*?)```/.exec(readFileSync(join(root, "docs/guides/integrators.md"), "utf8"))?.[1] ?? ""

const has = (command: string): boolean => spawnSync(command, ["--version"]).error === undefined

const canPaste = has("bash") && has("curl")
if (!canPaste) console.warn("SKIPPED: the tour of integrators needs bash and curl, which this machine lacks")

describe.skipIf(!canPaste)("the tour of integrators", () => {
  let server: RunningServer
  beforeAll(async () => {
    server = await startServer({ GOVOICE_SANDBOX_STEP_MS: String(50) })
  })
  afterAll(() => server.stop())

  it("ends with an accepted invoice and its receipt", () => {
    const script = tour.replace(/^export GOVOICE_URL=.*$/m, `export GOVOICE_URL=${server.url}`)
    const { status, stderr, stdout } = spawnSync("bash", ["-euo", "pipefail", "-c", script], {
      encoding: "utf8",
      timeout: 120_000
    })
    assert.strictEqual(status, 0, stderr)
    assert.include(stdout, '"status":"accepted"')
    assert.include(stdout, '"metadata":{"order":"4711"}')
    assert.include(stdout, "<Potwierdzenie")
    assert.include(stdout, "<NumerFaktury>FV/1</NumerFaktury>")
  })
})
