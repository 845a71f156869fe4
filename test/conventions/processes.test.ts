/**
 * Tests start servers through `ServerProcess`, which fails a run when a server crashes. Two are exceptions, whose tests assert the
 * exit code of each process: the packed server, which runs on another Node, and one whose output cannot be written.
 */
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { ServerProcess } from "../support/serverProcess.ts"

const root = join(import.meta.dirname, "../..")

const files = globSync("{test,packages/*/test,apps/*/test,examples/*/test}/**/*.ts", { cwd: root }).filter(
  (file) =>
    !file.includes("node_modules") && !file.startsWith("test/packaging/") && file !== "test/support/serverProcess.ts"
)

const spawns = /\b(?:spawn|fork|execFile)\(/
const server = /apps\/server\/src\/main\.ts|"serve"/

const findSpawnsOfServers = (text: string): boolean => spawns.test(text) && server.test(text)

describe("server processes of tests", () => {
  it("are found in the sources", () => {
    assert.isTrue(findSpawnsOfServers('spawn(process.execPath, [join(root, "apps/server/src/main.ts")])'))
    assert.isFalse(findSpawnsOfServers('new ServerProcess([join(root, "apps/server/src/main.ts")])'))
    assert.isAbove(files.length, 100)
  })

  it("are started only by ServerProcess", () => {
    const offenders = files.filter((file) => findSpawnsOfServers(readFileSync(join(root, file), "utf8")))
    assert.sameMembers(offenders, ["test/conventions/processes.test.ts", "test/e2e/log.integration.test.ts"])
  })

  it.each([
    ["an uncaught exception", 'throw new Error("fault")'],
    ["an unhandled rejection", 'Promise.reject(new Error("fault"))']
  ])("fail the suite after %s", async (_, code) => {
    const crashed = new ServerProcess(["-e", code], {})
    await crashed.exited
    assert.throws(() => crashed.assertNoCrash(), /A server process crashed/)
    crashed.mayCrash = true

    const ended = new ServerProcess(["-e", ""], {})
    assert.strictEqual(await ended.exited, 0)
    ended.assertNoCrash()
  })
})
