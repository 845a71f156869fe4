import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { until } from "./deployment.ts"
import { document } from "./liveKillPoints.ts"
import { setUp } from "./support.ts"

const cli = join(import.meta.dirname, "../../packages/ksef-simulator/src/cli.ts")
const count = 1000

interface Started {
  readonly url: string
  readonly nip: string
  readonly token: string
}

/** Runs with a simulator in a process of its own, with the limits of production. */
const withSimulator = async (run: (simulator: Started) => Promise<void>): Promise<void> => {
  const child: ChildProcess = spawn(process.execPath, ["--conditions=source", cli, "--processing", "0"], {
    stdio: ["ignore", "pipe", "inherit"]
  })
  try {
    const [line] = (await once(child.stdout!, "data")) as [Buffer]
    await run(JSON.parse(line.toString("utf8")) as Started)
  } finally {
    child.kill("SIGTERM")
    await once(child, "exit")
  }
}

describe("a thousand live invoices of one taxpayer", () => {
  const faults = setUp()

  it("are accepted with their receipts within a minute, as one batch", () =>
    withSimulator(async (ksef) => {
      const { deployment } = faults
      const live = { GOVOICE_LIVE_MODE: "true", GOVOICE_KSEF_URL: ksef.url }
      await deployment.startApi(live)
      const { key } = await deployment.liveOrganization({ context: ksef.nip, token: ksef.token })
      let next = 0
      const submit = async (): Promise<void> => {
        while (next < count) await deployment.submit(key, "accepted", document(ksef.nip, `FV/${(next += 1)}`))
      }
      await Promise.all(Array.from({ length: 10 }, submit))

      const startedAt = performance.now()
      const worker = await deployment.startWorker(live)
      const left = () => deployment.count("invoices WHERE NOT (status = 'accepted' AND upo_available)")
      await until("the receipts", async () => (await left()) === 0, 240_000)
      const seconds = (performance.now() - startedAt) / 1000
      await worker.stop()

      const ledger = await (await fetch(`${new URL(ksef.url).origin}/_simulator/ledger`)).json()
      const { accepted, overLimit } = ledger as {
        readonly accepted: ReadonlyArray<{ readonly sha256: string }>
        readonly overLimit: number
      }
      assert.lengthOf(new Set(accepted.map(({ sha256 }) => sha256)), count)
      assert.lengthOf(accepted, count)
      assert.strictEqual(overLimit, 0)
      assert.strictEqual(await deployment.count("national_sessions WHERE kind = 'batch'"), 1)
      assert.strictEqual(await deployment.count("national_sessions"), 1)
      assert.strictEqual(await deployment.count("events"), count * 4)
      assert.isBelow(seconds, 60)
    }))
})
