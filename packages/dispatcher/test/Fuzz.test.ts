/** Receivers that send arbitrary bytes. Each attempt ends with an outcome, in time, and leaves no connection. */
import type { Socket } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { runCampaign } from "./fuzz/campaign.ts"
import { dispatcher, serveHttp, serveRaw, stable, until } from "./support/servers.ts"

const piece = fc.oneof(
  fc.constantFrom(
    "HTTP/1.1 200 OK\r\n",
    "HTTP/1.1 204 No Content\r\n\r\n",
    "HTTP/1.1 103 Early Hints\r\n\r\n",
    "HTTP/1.1 500 \r\n",
    "HTTP/1.0 200 OK\r\n",
    "HTTP/1.1 ",
    "999",
    "content-length: 5\r\n",
    "Content-Length: 99999999999999999999\r\n",
    "transfer-encoding: chunked\r\n",
    "transfer-encoding: gzip, chunked\r\n",
    "connection: close\r\n",
    "connection: upgrade\r\nupgrade: h2c\r\n",
    "keep-alive: timeout=0\r\n",
    "keep-alive: timeout=-1, max=x\r\n",
    "retry-after: 1\r\n",
    "trailer: x\r\n",
    "x: y\r\n z\r\n",
    "\r\n",
    "\r\n\r\n",
    "\n\n",
    "5\r\nhello\r\n",
    "0\r\n\r\n",
    "0\r\nx: y\r\n\r\n",
    "ffffffffffffffff\r\n",
    "5;a=b\r\nhello\r\n",
    "hello",
    "\0",
    ":",
    " "
  ),
  fc.string({ maxLength: 20, unit: "binary" })
)

const step = fc.record({ bytes: piece, pause: fc.constantFrom(0, 0, 0, 1, 5) })
/** Half of them begin with a valid status line. */
const steps = fc
  .tuple(
    fc.constantFrom("HTTP/1.1 200 OK\r\n", "HTTP/1.1 503 x\r\n", "", ""),
    fc.array(step, { minLength: 1, maxLength: 12 })
  )
  .map(([bytes, rest]) => [{ bytes, pause: 0 }, ...rest])

const end = fc.constantFrom("leave", "end", "reset", "destroy")

type Steps = ReadonlyArray<{ bytes: string; pause: number }>
const bytesOf = (bytes: string): [Array<Steps[number]>, string] => [[{ bytes, pause: 0 }], "end"]
const valid = bytesOf("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello")
const refusal = bytesOf("HTTP/1.1 503 x\r\ncontent-length: 0\r\n\r\n")
const invalid = bytesOf("HTTP/1.1 \r\n\r\n")

describe("Arbitrary responses", () => {
  it("end with an outcome, in time, and with a connection that is closed or usable", async () => {
    let script: { readonly steps: Steps; readonly end: string }
    const play = async (socket: Socket) => {
      const { end, steps } = script
      for (const { bytes, pause } of steps) {
        if (pause > 0) await new Promise((done) => setTimeout(done, pause))
        if (socket.destroyed) return
        socket.write(bytes, "latin1")
      }
      if (end === "end") socket.end()
      else if (end === "reset") socket.resetAndDestroy()
      else if (end === "destroy") socket.destroy()
    }
    const receiver = await serveRaw((socket) => void play(socket))
    const { send } = dispatcher({ deadlineMs: 80 })
    const seen = new Set<unknown>()
    await fc.assert(
      fc.asyncProperty(steps, end, async (steps, end) => {
        script = { steps, end }
        // Two in a row: the rest of the first response must not become the answer to the second.
        for (let attempt = 0; attempt < 2; attempt++) {
          const outcome = await send({ url: `http://name.test:${receiver.port}/`, body: "{}" })
          const { _tag, reason } = stable(outcome)
          assert.include(["Delivered", "Refused", "Failed"], _tag)
          assert.isBelow(outcome.durationMs, 10_000)
          seen.add(reason ?? _tag)
        }
      }),
      { numRuns: 150, examples: [valid, refusal, invalid] }
    )
    assert.includeMembers([...seen], ["Delivered", "Refused", "protocol"])

    const healthy = await serveHttp()
    const outcome = await send({ url: `http://name.test:${healthy.port}/`, body: "", deadlineMs: 20_000 })
    assert.strictEqual(outcome._tag, "Delivered")
    await until(() => receiver.open <= 2, "connections to close")
  })
})

describe("Generated responses", () => {
  // Failures name the seed and the case: `node --conditions=source test/fuzz/main.ts --seed 1 --first <case> --cases 1`.
  it("end with a valid outcome, and nothing is thrown (800 cases)", async () => {
    const { failures, sends } = await runCampaign({ seed: 1, first: 0, cases: 800, lanes: 32 })
    assert.deepEqual(failures, [])
    assert.isAbove(sends, 1_000)
  })
})
