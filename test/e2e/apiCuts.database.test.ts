/**
 * Connections that are cut in the middle of their requests do not end the process.
 *
 * `CUT_SEED` repeats a run, `CUTS` sets the number of connections.
 */
import { connect } from "node:net"
import { assert, describe, it } from "vitest"
import { makeCall, readAgreement, signUp, submit } from "./support/client.ts"
import { cutConnections } from "./support/cuts.ts"
import { databaseOfRun } from "./support/databases.ts"
import { startServer } from "./support/server.ts"

const seed = Number(process.env["CUT_SEED"] ?? Date.now() % 1_000_000)
const connections = Number(process.env["CUTS"] ?? 400)

describe(`connections that are cut (${databaseOfRun.name})`, () => {
  it(`leave a server that answers (CUT_SEED=${seed})`, async () => {
    const database = await databaseOfRun.open()
    const server = await startServer({
      ...database.settings,
      GOVOICE_METRICS_PORT: "0",
      GOVOICE_RATE_LIMIT_PER_SECOND: "10000",
      GOVOICE_RATE_LIMIT_BURST: "100000"
    })
    try {
      const call = makeCall(() => server.url, await readAgreement(server.url))
      const { testKey } = await signUp(call)
      const check = () => assert.isNull(server.process.exitCode, server.output())
      const [, metrics] = /Metrics are served at http:\/\/[^:]+:(\d+)/.exec(server.output()) ?? []
      const ports = [server.port, Number(metrics)]
      // The server of the metrics is another, of the same kind.
      for (const [index, port] of ports.entries()) {
        const answers = await cutConnections({
          open: () => connect(port, "127.0.0.1"),
          connections: index === 0 ? connections : connections / 10,
          apiKey: testKey,
          seed,
          check
        })
        assert.isAbove(answers, 0)
      }
      assert.strictEqual((await submit(call, testKey)).status, 201)
      assert.strictEqual(await server.stop(), 0, server.output())
    } finally {
      await server.kill()
      await database.drop()
    }
  }, 3_000_000)
})
