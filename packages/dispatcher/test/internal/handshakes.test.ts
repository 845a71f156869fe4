import * as net from "node:net"
import { afterEach, assert, it, vi } from "vitest"
import { Handshakes, Transport } from "../../src/internal/handshakes.ts"
import { serveRaw, until } from "../support/servers.ts"

it("a connection that is reset ends without an error, which the HTTP client would not survive", async () => {
  const receiver = await serveRaw((socket) => socket.resetAndDestroy())
  const tcp = net.connect(receiver.port, "127.0.0.1").on("error", () => {})
  const transport = new Transport(tcp, { isResting: () => false, onWork: () => {}, onFlood: () => {} })
  const errors: Array<Error> = []
  transport.on("error", (error) => errors.push(error))
  transport.write("begin")
  await until(() => tcp.destroyed)
  transport.write("more")
  await until(() => transport.destroyed)
  await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(errors, [])
})

afterEach(() => {
  vi.useRealTimers()
})

const address = "203.0.113.7"

it("a network whose handshakes each take longer than usual has a fiftieth of the processor", () => {
  vi.useFakeTimers({ toFake: ["performance"] })
  const handshakes = new Handshakes([])
  const seconds = 600
  let spent = 0
  for (let second = 0; second < seconds; second++) {
    for (let time = 0; time < 100 && !handshakes.isResting(address); time++) {
      handshakes.note(address, 0, 12)
      handshakes.note(address, 12, 24)
      spent += 24
    }
    vi.advanceTimersByTime(1000)
  }
  // What is usual of each handshake is not counted.
  assert.isAtMost(spent, (1.5 * seconds * 1000) / 50)
  assert.isAtLeast(spent, (seconds * 1000) / 50)
})

it("one handshake that takes longer, and many that are usual, leave a network connected to", () => {
  vi.useFakeTimers({ toFake: ["performance"] })
  const handshakes = new Handshakes([])
  handshakes.note(address, 0, 24)
  for (let time = 0; time < 1000; time++) handshakes.note(address, 0, 4)
  assert.isFalse(handshakes.isResting(address))
  handshakes.note(address, 0, 10)
  assert.isTrue(handshakes.isResting(address))
  vi.advanceTimersByTime(1000)
  assert.isFalse(handshakes.isResting(address))
})
