import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { ServerProcess } from "../support/serverProcess.ts"

const main = join(import.meta.dirname, "../../examples/demo/src/main.ts")

describe("the demo of live mode", () => {
  it("has every document accepted exactly once, and no call over a limit", async () => {
    const demo = new ServerProcess(["--conditions=source", main, "--live"], { NO_COLOR: "1" })
    assert.strictEqual(await demo.exited, 0, demo.text)
    assert.match(demo.stdout, /203 documents, each accepted exactly once/)
    assert.match(demo.stdout, /calls, none over a limit/)
    assert.match(demo.stdout, /rejected, duplicate_invoice/)
    assert.match(demo.stdout, /P_14_1/)
    assert.match(demo.stdout, /webhooks +\d+ received and verified/)
  })
})
