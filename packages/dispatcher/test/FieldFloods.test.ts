/**
 * A receiver that sends far more fields than are read. What they cost is counted rather than timed: undici goes on parsing the piece
 * that it has read, and makes an error for every field that is too much.
 */
import { errors } from "undici"
import { afterEach, assert, beforeEach, describe, it } from "vitest"
import { delivered, failed, sendOnce, serveRaw, stable } from "./support/servers.ts"

const fields = "T:a\r\n".repeat(80_000)

let made = 0
class Counted extends errors.UndiciError {
  constructor(...args: Array<string>) {
    super(...args)
    made++
  }
}

beforeEach(() => {
  made = 0
  Object.setPrototypeOf(errors.HeadersOverflowError, Counted)
})
afterEach(() => {
  Object.setPrototypeOf(errors.HeadersOverflowError, errors.UndiciError)
})

/** The outcome of an attempt that is answered like this, when the connection has ended. */
const answering = async (answer: string) => {
  let closed: Promise<unknown> | undefined
  const receiver = await serveRaw((socket) => {
    closed ??= new Promise((resolve) => socket.once("close", resolve))
    socket.write(answer)
  })
  const outcome = stable(await sendOnce(`http://name.test:${receiver.port}/`))
  await closed
  return outcome
}

describe("A flood of fields costs little", () => {
  for (const [where, start, expected] of [
    ["head", "HTTP/1.1 200 OK\r\n", failed("protocol", true)],
    ["trailers", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n", delivered()]
  ] as const) {
    it(`in the ${where}`, async () => {
      assert.deepEqual(await answering(start + fields), expected)
      assert.isAtLeast(made, 1)
      assert.isBelow(made, 1000)
    })
  }
})
