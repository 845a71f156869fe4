import { assert, describe, it } from "@effect/vitest"
import { Environment } from "@govoice/ksef/client"
import type { SessionAnswers } from "@govoice/ksef/protocol"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { failure, serveHttp, withClient } from "../support/servers.ts"

const part = (url: string, given: Partial<SessionAnswers.PartUpload> = {}): SessionAnswers.PartUpload => ({
  ordinalNumber: 1,
  method: "PUT",
  url: Redacted.make(url),
  headers: {},
  ...given
})

const encrypted = Buffer.from("encrypted")

describe("the upload of a part of a batch", () => {
  it("sends the bytes to the address with the given headers, and no token", async () => {
    const server = await serveHttp((response) => response.writeHead(201).end())
    const url = `http://127.0.0.1:${server.port}`
    const upload = part(`${url}/storage/part-1?sig=a%2Fb`, {
      headers: { "x-ms-blob-type": "BlockBlob", "Content-Type": "application/octet-stream", absent: null }
    })
    const { result } = await withClient({ url: `${url}/v2` }, (client) => client.uploadPart(upload, encrypted))
    assert.isTrue(Result.isSuccess(result))
    const [request] = server.received
    assert.deepInclude(request, { method: "PUT", path: "/storage/part-1?sig=a%2Fb" })
    assert.strictEqual(request?.body.toString(), "encrypted")
    assert.strictEqual(request?.headers["content-length"], "9")
    assert.strictEqual(request?.headers["x-ms-blob-type"], "BlockBlob")
    assert.strictEqual(request?.headers["content-type"], "application/octet-stream")
    assert.strictEqual(request?.headers["user-agent"], "Govoice/0.0.0-test")
    assert.notProperty(request?.headers, "authorization")
    assert.notProperty(request?.headers, "absent")
    assert.notProperty(request?.headers, "x-error-format")
  })

  it("sends none of the given headers about the connection or the caller", async () => {
    const server = await serveHttp((response) => response.writeHead(201).end())
    const url = `http://127.0.0.1:${server.port}`
    const headers = {
      Host: "example.com",
      "Content-Length": "1",
      "Transfer-Encoding": "chunked",
      Connection: "upgrade",
      Authorization: "Bearer x",
      Cookie: "x=1",
      "User-Agent": "x",
      "x-kept": "1"
    }
    await withClient({ url: `${url}/v2` }, (client) => client.uploadPart(part(`${url}/x`, { headers }), encrypted))
    const [request] = server.received
    assert.strictEqual(request?.headers.host, `127.0.0.1:${server.port}`)
    assert.strictEqual(request?.headers["user-agent"], "Govoice/0.0.0-test")
    assert.strictEqual(request?.headers["x-kept"], "1")
    assert.strictEqual(request?.body.toString(), "encrypted")
    for (const name of ["authorization", "cookie", "transfer-encoding"]) assert.notProperty(request?.headers, name)
  })

  it("fails unsent for a header with a line break", async () => {
    const server = await serveHttp((response) => response.writeHead(201).end())
    const url = `http://127.0.0.1:${server.port}`
    const error = await failure({ url: `${url}/v2` }, (client) =>
      client.uploadPart(part(`${url}/x`, { headers: { a: "b\r\nc: d" } }), encrypted)
    )
    assert.strictEqual(error.outcome, "unsent")
    assert.isEmpty(server.received)
  })

  it.each(["GET", "DELETE", "CONNECT", "put", ""])("fails unsent for the method %j", async (method) => {
    const server = await serveHttp((response) => response.writeHead(201).end())
    const url = `http://127.0.0.1:${server.port}`
    const error = await failure({ url: `${url}/v2` }, (client) =>
      client.uploadPart(part(`${url}/x`, { method }), encrypted)
    )
    assert.deepInclude(error, { call: "uploadPart", outcome: "unsent" })
    assert.isEmpty(server.received)
  })

  it("connects to no address outside of the environment", async () => {
    const elsewhere = await serveHttp((response) => response.writeHead(201).end())
    const url = `http://127.0.0.1:${elsewhere.port}/x`
    for (const options of [{ url: "http://127.0.0.1:1/v2" }, { environment: Environment.environments.prod }]) {
      const error = await failure(options, (client) => client.uploadPart(part(url), encrypted))
      assert.deepInclude(error, { reason: "address-refused", outcome: "unsent" })
    }
    assert.strictEqual(elsewhere.connections(), 0)
  })

  it("fails with forbidden where the storage answers 403", async () => {
    const server = await serveHttp((response) => response.writeHead(403).end("<Error/>"))
    const url = `http://127.0.0.1:${server.port}`
    const error = await failure({ url: `${url}/v2` }, (client) => client.uploadPart(part(`${url}/x`), encrypted))
    assert.deepInclude(error, { reason: "forbidden", status: 403 })
  })

  it("ends at its own deadline, not at that of other calls", async () => {
    const server = await serveHttp(() => {})
    const url = `http://127.0.0.1:${server.port}`
    const options = { url: `${url}/v2`, timeoutMs: 60_000, uploadTimeoutMs: 1_500 }
    const error = await failure(options, (client) => client.uploadPart(part(`${url}/x`), encrypted))
    assert.deepInclude(error, { reason: "timeout", outcome: "unknown" })
  })
})

describe("the link of a receipt", () => {
  it("is followed without a token", async () => {
    const server = await serveHttp((response) => response.end("<Potwierdzenie/>"))
    const url = `http://127.0.0.1:${server.port}`
    const { result } = await withClient({ url: `${url}/v2` }, (client) =>
      client.downloadUpo(Redacted.make(`${url}/upo?sig=1`))
    )
    assert.strictEqual(Result.getOrThrow(result).bytes.toString(), "<Potwierdzenie/>")
    assert.strictEqual(server.received[0]?.path, "/upo?sig=1")
    assert.notProperty(server.received[0]?.headers, "authorization")
  })

  it.each(["", "no URL", "file:///etc/passwd", "http://169.254.169.254/latest/meta-data", "https://example.com/upo"])(
    "is refused: %j",
    async (link) => {
      const error = await failure({ environment: Environment.environments.test }, (client) =>
        client.downloadUpo(Redacted.make(link))
      )
      assert.deepInclude(error, { call: "downloadUpo", reason: "address-refused", outcome: "unsent" })
    }
  )
})
