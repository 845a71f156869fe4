/** Responses that are larger than any of the API, from a server that sends as long as the client reads. */
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { pipeline, Readable } from "node:stream"
import { gzipSync } from "node:zlib"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { createClient, type FetchResponse } from "../src/index.ts"
import { apiKey, baseUrl, rejection } from "./support/connect.ts"
import { repeated } from "./support/faultServer.ts"
import { id, problem, record } from "./support/stub.ts"

const MiB = 2 ** 20
const spaces = Buffer.alloc(MiB, " ")
const compressed = gzipSync(Buffer.alloc(32 * MiB, " "))

const errorText = await problem(503, "busy", true).text()

// Resolves when the client has closed the response without end.
let closed: Promise<unknown>

// Each path begins with the status and the size of the body.
const server = createServer((request, response) => {
  const [, status, size] = request.url!.split("/")
  response.writeHead(Number(status), {
    "content-type": "application/xml",
    ...(size === "compressed" && { "content-encoding": "gzip" })
  })
  if (Number(size) > 0) {
    response.end((status === "200" ? "<Faktura/>" : errorText).padEnd(Number(size)))
    return
  }
  closed = once(response, "close")
  pipeline(Readable.from(repeated(size === "compressed" ? compressed : spaces)), response, () => {})
})
beforeAll(() => once(server.listen(0, "127.0.0.1"), "listening"))
afterAll(async () => {
  server.closeAllConnections()
  await once(server.close(), "close")
})

const clientOf = (status: number, size: number | string) => {
  const { port } = server.address() as AddressInfo
  return createClient({ apiKey, baseUrl: `http://127.0.0.1:${port}/${status}/${size}`, timeoutMs: 50_000 })
}

const assertTooLarge = async (call: Promise<unknown>) => {
  const { _tag, attempts, message, retryable } = await rejection(call)
  assert.strictEqual(message, "The response is too large. Check baseUrl and proxies.")
  assert.deepStrictEqual({ _tag, attempts, retryable }, { _tag: "DecodeError", attempts: 1, retryable: false })
}

describe("A response without end", () => {
  it.each([
    [200, "endless"],
    [200, "compressed"],
    [503, "endless"],
    [503, "compressed"]
  ])("(%i, %s) is closed, and not requested again", async (status, size) => {
    await assertTooLarge(clientOf(status, size).invoices.get(id))
    await closed
  })
})

describe("The limit", () => {
  it("of a response is 64 MiB", async () => {
    const file = await clientOf(200, 64 * MiB).invoices.downloadUpo(id)
    assert.strictEqual((await file.bytes()).buffer.byteLength, 64 * MiB)
    await assertTooLarge(clientOf(200, 64 * MiB + 1).invoices.downloadUpo(id))
  })

  it("of an error is 1 MiB", async () => {
    const error = await rejection(clientOf(409, MiB).invoices.get(id))
    assert.strictEqual(`${error._tag} ${error.code}`, "ApiError busy")
    await assertTooLarge(clientOf(409, MiB + 1).invoices.get(id))
  })
})

it("A response without a stream reads itself", async () => {
  const stubbed = (text: string): FetchResponse => ({
    ok: true,
    status: 200,
    headers: new Headers({ "content-type": "application/xml" }),
    text: async () => text,
    arrayBuffer: async () => new TextEncoder().encode(text).buffer
  })
  for (const more of [{}, { body: null }, { body: Readable.from([]) }]) {
    const answering = (text: string) =>
      createClient({ apiKey, baseUrl, fetch: async () => ({ ...stubbed(text), ...more }) }).invoices
    assert.strictEqual((await answering(JSON.stringify(record)).get(id)).id, id)
    assert.strictEqual(await (await answering("<Faktura/>").downloadUpo(id)).text(), "<Faktura/>")
  }
})
