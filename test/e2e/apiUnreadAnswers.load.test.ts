/** A tenant that asks for the largest pages there are, on many connections, and reads none of them. */
import { readFile } from "node:fs/promises"
import { connect, type Socket } from "node:net"
import { assert, describe, it } from "vitest"
import { makeCall, readAgreement, signUp, submit } from "./support/client.ts"
import { openMigrated } from "./support/databases.ts"
import { startServer } from "./support/server.ts"

const connections = 150
// Of four bytes. As many as metadata may have.
const metadata = Object.fromEntries(
  Array.from({ length: 50 }, (_, index) => [`${"😀".repeat(38)}${10 + index}`, "😀".repeat(500)])
)

describe("a tenant that does not read its pages", () => {
  it("takes a bounded memory, and no answer from others", async () => {
    const database = await openMigrated()
    const server = await startServer({
      ...database.settings,
      GOVOICE_ROLE: "api",
      NODE_OPTIONS: "--max-old-space-size=150"
    })
    const sockets: Array<Socket> = []
    try {
      const call = makeCall(() => server.url, await readAgreement(server.url))
      const [stranger, victim] = [await signUp(call), await signUp(call)]
      const body = { invoice_xml: "<Faktura/>", metadata }
      for (let count = 0; count < 100; count++) {
        const { status } = await submit(call, stranger.testKey, { body })
        assert.strictEqual(status, 201)
      }
      const page = await call("GET", "/v1/invoices?limit=100", { auth: stranger.testKey })
      assert.isAbove(Buffer.byteLength(page.text), 4_000_000)

      // In KiB.
      const mostMemory = async () =>
        Number(/VmHWM:\s+(\d+)/.exec(await readFile(`/proc/${server.process.pid}/status`, "utf8"))?.[1])
      const before = await mostMemory()
      const request = `GET /v1/invoices?limit=100 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${stranger.testKey}\r\n\r\n`
      for (let count = 0; count < connections; count++) {
        const socket = connect(server.port, "127.0.0.1", () => socket.write(request))
        sockets.push(socket)
        socket.on("error", () => {})
        socket.pause()
      }
      // Others are answered meanwhile.
      for (const deadline = Date.now() + 20_000; Date.now() < deadline;) {
        assert.strictEqual((await call("GET", "/v1/invoices?limit=100", { auth: victim.testKey })).status, 200)
        assert.strictEqual((await submit(call, victim.testKey)).status, 201)
        await new Promise((resolve) => setTimeout(resolve, 500))
      }
      assert.isNull(server.process.exitCode)
      // The garbage of the heap, and what may wait. All pages together have 600 MB.
      assert.isBelow((await mostMemory()) - before, 350_000)
    } finally {
      for (const socket of sockets) socket.destroy()
      await server.stop()
      await database.drop()
    }
  })
})
