/** A body takes memory by its bytes, whatever pieces its sender makes of them. */
import { createHandler as createNodeHandler } from "@govoice/webhooks/node"
import { signedWebhook } from "@govoice/webhooks/testing"
import { createHandler as createWebHandler } from "@govoice/webhooks/web"
import { Readable } from "node:stream"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { assert, describe, it } from "vitest"

setFlagsFromString("--expose-gc")
const collectGarbage = runInNewContext("gc") as () => void

const secret = "whsec_kfUZ5zdM0s0m5sLzu0Md5ZZ3g1vSyrIhrVOTm0VbTPw"
const options = { secret, onError: () => {}, onRejected: () => {} }
const webhook = () =>
  signedWebhook({ secret, type: "invoice.accepted", data: { invoice: { metadata: { note: "a".repeat(500_000) } } } })

const used = () => {
  collectGarbage()
  const { arrayBuffers, heapUsed } = process.memoryUsage()
  return arrayBuffers + heapUsed
}

/** Yields a body byte by byte, and tells how much memory is in use before the last one. */
async function* byBytes(body: string, onRead: (bytes: number) => void) {
  const bytes = Buffer.from(body)
  const before = used()
  for (let at = 0; at < bytes.length; at++) {
    if (at === bytes.length - 1) onRead(used() - before)
    // As the parser of Node makes them.
    yield Buffer.from(bytes.buffer, bytes.byteOffset + at, 1)
  }
}

describe("A body of single bytes", () => {
  it("takes memory by its bytes in the adapter for node:http", async () => {
    const { body, headers } = webhook()
    let taken = Infinity
    const stream = Readable.from(byBytes(body, (bytes) => (taken = bytes)))
    const request = Object.assign(stream, { method: "POST", headers: { ...headers } })
    let status = 0
    const response = { writeHead: (answered: number) => ({ end: () => (status = answered) }) }
    await createNodeHandler(options, () => {})(request, response)
    assert.strictEqual(status, 204)
    assert.isBelow(taken, 10_000_000)
  })

  it("takes memory by its bytes in the adapter for Fetch", async () => {
    const { body, headers } = webhook()
    let taken = Infinity
    const request = { method: "POST", bodyUsed: false, headers, body: byBytes(body, (bytes) => (taken = bytes)) }
    const { status } = await createWebHandler(options, () => {})(request)
    assert.strictEqual(status, 204)
    assert.isBelow(taken, 10_000_000)
  })
})
