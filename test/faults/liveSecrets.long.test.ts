import { startSimulator } from "@govoice/ksef-simulator"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { assert, describe, it } from "vitest"
import { freePort } from "../support/freePort.ts"
import { until } from "./deployment.ts"
import { batchSize, credentialOf, document } from "./liveKillPoints.ts"
import { setUp } from "./support.ts"

/** Lines of a key in PEM that are the key itself. */
const secretLines = (pem: string): ReadonlyArray<string> =>
  pem.split("\n").filter((line) => line.length > 30 && !line.startsWith("-----"))

/** Takes the spans that processes export. */
const startCollector = async () => {
  const bodies: Array<string> = []
  const server = createServer((request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      bodies.push(Buffer.concat(chunks).toString("utf8"))
      response.writeHead(200, { "content-type": "application/json" }).end("{}")
    })
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    text: () => bodies.join("\n"),
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, "close")
    }
  }
}

describe("secrets of live mode", () => {
  const faults = setUp()

  it.each(["token", "certificate"] as const)(
    "are in no log line, span, metric or response of a run with faults, with a %s",
    async (kind) => {
      const { deployment } = faults
      const ksef = await startSimulator({
        processingMs: 0,
        faults: [
          { do: "drop-after", on: "redeemTokens" },
          { do: "5xx", on: "openOnlineSession" },
          { do: "expire-access", on: "getInvoice" },
          { do: "upo-html", times: 3 },
          { do: "exception", on: "refreshToken", code: 21301 }
        ]
      })
      const collector = await startCollector()
      try {
        const metricsPort = String(await freePort())
        const live = {
          GOVOICE_LIVE_MODE: "true",
          GOVOICE_KSEF_URL: ksef.url,
          GOVOICE_LOG_LEVEL: "Trace",
          GOVOICE_ACCESS_LOG: "all",
          OTEL_EXPORTER_OTLP_ENDPOINT: collector.url
        }
        await deployment.startApi(live)
        await deployment.startWorker({ ...live, GOVOICE_METRICS_PORT: metricsPort })
        const { key } = await deployment.liveOrganization({ context: ksef.nip, ...credentialOf(ksef, kind) })
        const ids: Array<string> = []
        for (let index = 0; index < batchSize; index++) {
          ids.push(await deployment.submit(key, "accepted", document(ksef.nip, `FV/${index}`)))
        }
        const left = () => deployment.count("invoices WHERE NOT upo_available")
        await until("the receipt of every invoice", async () => (await left()) === 0, 120_000)

        const answers = await Promise.all(ids.map((id) => deployment.call("GET", `/v1/invoices/${id}`, { token: key })))
        const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
        assert.match(metrics, /govoice_ksef_calls_total\{[^}]*operation="redeem"/)
        assert.match(metrics, /govoice_ksef_waiting/)
        // A stop exports the spans that are left.
        await Promise.all(deployment.processes.map((one) => one.stop()))
        const spans = collector.text()
        assert.match(spans, /"name":"LaneStore\.write"/)
        const output = [
          spans,
          ...deployment.processes.map(({ text }) => text),
          metrics,
          ...answers.map(({ body }) => JSON.stringify(body))
        ].join("\n")
        assert.include(output, "KSeF", "something of live mode is logged")

        const own = kind === "token" ? [ksef.token] : secretLines(ksef.certificate.privateKey)
        const secrets = [...ksef.ledger.secrets(), ...own].filter(({ length }) => length >= 20)
        assert.isAbove(secrets.length, 20)
        assert.deepStrictEqual(
          secrets.filter((secret) => output.includes(secret)),
          []
        )
      } finally {
        await collector.close()
        await ksef.close()
      }
    }
  )
})
