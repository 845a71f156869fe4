/** The memory of a connection beside the request that it has in service. */
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { connect, type Socket } from "node:net"
import { afterEach, assert, describe, it } from "vitest"
import { limits } from "../../../src/http/transport/NodeServer.ts"

const count = 1000
const request = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
const bodyBegins = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n"

describe("a connection", () => {
  const sockets: Array<Socket> = []
  let child: ChildProcess | undefined

  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy()
    child?.kill("SIGKILL")
  })

  const ask = async (): Promise<{ readonly port: number; readonly rss: number; readonly served: number }> => {
    const answered = once(child!, "message")
    child!.send("memory")
    const [answer] = (await answered) as [Awaited<ReturnType<typeof ask>>]
    return answer
  }

  // Each has a request that is never answered.
  it.each([
    ["as much as may wait", request + request.repeat(Math.floor((limits.maxHeaderSize - 100) / request.length))],
    ["a megabyte of requests", request.repeat(Math.ceil(2 ** 20 / request.length))],
    ["the head of one, and waits within the next", `${request}GET / HTTP/1.1\r\nX: ${"x".repeat(15_000)}`],
    ["the beginning of a body", `${bodyBegins}x`]
  ])("takes at most 64 KiB when it sends %s", async (_, bytes) => {
    child = fork(join(import.meta.dirname, "../support/silentServer.ts"), {
      // Buffers that were read into are given back to the system when they are free: what is counted is held.
      env: { ...process.env, MALLOC_ARENA_MAX: "1", MALLOC_MMAP_THRESHOLD_: "16384", MALLOC_TRIM_THRESHOLD_: "0" },
      execArgv: ["--conditions=source", "--expose-gc", "--max-old-space-size=128"]
    })
    await once(child, "message")
    const before = await ask()
    for (let index = 0; index < count; index++) {
      const socket = connect(before.port, "127.0.0.1")
      sockets.push(socket)
      socket.on("error", () => {})
      socket.pause()
      await once(socket, "connect")
      socket.write(bytes)
    }
    const deadline = Date.now() + 50_000
    let after = await ask()
    while (after.served < count && Date.now() < deadline) after = await ask()
    assert.strictEqual(after.served, count)
    // What has been sent is read.
    await new Promise((resolve) => setTimeout(resolve, 2000))
    after = await ask()
    assert.strictEqual(after.served, count)
    assert.isBelow((after.rss - before.rss) / count, 64 * 1024)
  })
})
