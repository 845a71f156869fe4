/** A process whose server answers nothing, and which reports its memory. */
import type { AddressInfo } from "node:net"
import * as NodeServer from "../../../src/http/transport/NodeServer.ts"

let served = 0
const server = NodeServer.make({ ...NodeServer.limits, headersTimeout: 300_000 })
server.on("request", () => (served += 1))
server.listen(0, "127.0.0.1", () => process.send?.("ready"))

process.on("message", () => {
  globalThis.gc?.()
  process.send?.({ port: (server.address() as AddressInfo).port, rss: process.memoryUsage.rss(), served })
})
