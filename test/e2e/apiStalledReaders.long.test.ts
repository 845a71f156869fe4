/** Clients that do not read their responses, or open connections without end, end by themselves. */
import { setTimeout as sleep } from "node:timers/promises"
import { assert, describe, it } from "vitest"
import { limits } from "../../apps/server/src/http/transport/NodeServer.ts"
import { perAddress, request, requests, setUp, stranger } from "./support/slowReaders.ts"
import { patienceMs } from "../support/patienceMs.ts"

describe("slow readers", () => {
  const { docsBytes, log, open, openSlow, submitOne } = setUp()

  it("end after 30 seconds without progress, and one that reads on does not", async () => {
    const { idle, read, steady } = await openSlow()
    await sleep(limits.stalledMs + 3 * limits.connectionsCheckingInterval)

    assert.isFalse(steady.destroyed)
    const before = read()
    for (const deadline = Date.now() + patienceMs; read() === before && Date.now() < deadline;) await sleep(50)
    assert.isAbove(read(), before)

    const received = await Promise.all(
      idle.map(async (socket) => {
        let bytes = 0
        socket.on("data", (chunk: Buffer) => (bytes += chunk.length))
        socket.resume()
        // Not `events.once`, which rejects when the server resets the connection.
        if (!socket.closed) await new Promise((resolve) => socket.once("close", resolve))
        return bytes
      })
    )
    // The buffers of the kernel hold some of it.
    assert.isBelow(Math.max(...received), (requests * docsBytes()) / 2, "the responses were cut off")
    await submitOne()
  })

  it("of one address have a limited number of connections, and the log names the address once", async () => {
    // After a request, a connection may be idle for longer than this test waits.
    const opened = await Promise.all(Array.from({ length: 2 * perAddress }, () => open(request)))
    const isOpen = (socket: (typeof opened)[number]) => !socket.destroyed
    for (const socket of opened) socket.resume()
    assert.isAbove(limits.keepAliveTimeout, 55_000)
    const deadline = Date.now() + patienceMs
    while (opened.filter(isOpen).length > perAddress && Date.now() < deadline) await sleep(50)
    await sleep(200)
    assert.strictEqual(opened.filter(isOpen).length, perAddress)
    await submitOne()
    const warnings = log().filter(({ message }) => message.includes("GOVOICE_CONNECTIONS_PER_ADDRESS"))
    assert.deepStrictEqual(
      warnings.map(({ annotations }) => annotations["client_address"]),
      [stranger]
    )
  })
})
