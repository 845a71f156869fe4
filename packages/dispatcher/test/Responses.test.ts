import { randomBytes } from "node:crypto"
import { gzipSync } from "node:zlib"
import { assert, describe, it } from "@effect/vitest"
import { heldBytes } from "./support/memory.ts"
import {
  delivered,
  dispatcher,
  failed,
  leastOfThree,
  passTurns,
  sendOnce,
  serveHttp,
  serveRaw,
  stable,
  until
} from "./support/servers.ts"

const refused = (status: number, retryable: boolean) => ({ _tag: "Refused", status, retryable, attempted: true })

/** The outcome of one attempt if the receiver writes `bytes` for the request. */
const answering = async (bytes: string | Buffer, end = false) => {
  const receiver = await serveRaw((socket) => (end ? socket.end(bytes) : socket.write(bytes)))
  return stable(await sendOnce(`http://name.test:${receiver.port}/`))
}

describe("A status", () => {
  for (const status of [200, 201, 202, 204, 205, 206, 226, 299]) {
    it(`${status} is delivered`, async () => {
      const receiver = await serveHttp((_, response) => response.writeHead(status).end())
      assert.deepEqual(stable(await sendOnce(`http://name.test:${receiver.port}/`)), delivered(status))
    })
  }

  for (const status of [300, 301, 302, 303, 304, 307, 308, 400, 401, 403, 404, 408, 409, 410, 413, 422, 425, 499]) {
    it(`${status} is final`, async () => {
      const receiver = await serveHttp((_, response) => response.writeHead(status).end())
      assert.deepEqual(stable(await sendOnce(`http://name.test:${receiver.port}/`)), refused(status, false))
    })
  }

  for (const status of [429, 500, 501, 502, 503, 504, 521, 599]) {
    it(`${status} can be retried`, async () => {
      const receiver = await serveHttp((_, response) => response.writeHead(status).end())
      assert.deepEqual(stable(await sendOnce(`http://name.test:${receiver.port}/`)), refused(status, true))
    })
  }

  for (const status of ["600", "999", "099", "000"]) {
    it(`${status} is not a valid status`, async () => {
      assert.deepEqual(await answering(`HTTP/1.1 ${status} x\r\ncontent-length: 0\r\n\r\n`), failed("protocol", true))
    })
  }

  it("of HTTP/1.0 is read, and its connection closed", async () => {
    assert.deepEqual(await answering("HTTP/1.0 200 OK\r\n\r\nok", true), delivered())
  })

  it("without a reason phrase is read", async () => {
    assert.deepEqual(await answering("HTTP/1.1 200\r\ncontent-length: 0\r\n\r\n"), delivered())
  })
})

describe("A redirect", () => {
  for (const status of [301, 302, 303, 307, 308]) {
    it(`with ${status} to loopback is not followed`, async () => {
      const inside = await serveHttp()
      const outside = await serveHttp((_, response) =>
        response.writeHead(status, { location: `http://127.0.0.1:${inside.port}/admin` }).end()
      )
      const outcome = await sendOnce(`http://name.test:${outside.port}/`)
      assert.deepEqual(stable(outcome), refused(status, false))
      assert.strictEqual(inside.connections, 0)
      assert.strictEqual(outside.requests.length, 1)
    })
  }
})

describe("Retry-After", () => {
  const after = async (status: number, value: string | Array<string>) => {
    const receiver = await serveHttp((_, response) => {
      response.statusCode = status
      response.setHeader("retry-after", value).end()
    })
    return stable(await sendOnce(`http://name.test:${receiver.port}/`))["retryAfterMs"]
  }

  it("is read for 429 and 503, in seconds", async () => {
    assert.strictEqual(await after(429, "7"), 7_000)
    assert.strictEqual(await after(503, "120"), 120_000)
  })

  it("is read as a date", async () => {
    const wait = await after(503, new Date(Date.now() + 60_000).toUTCString())
    assert.isTrue(typeof wait === "number" && wait > 30_000 && wait <= 60_000)
  })

  it("is limited to 6 hours", async () => {
    assert.strictEqual(await after(429, "99999999999999999999"), 21_600_000)
  })

  it("is ignored for other statuses, if invalid or given twice", async () => {
    assert.isUndefined(await after(500, "7"))
    assert.isUndefined(await after(302, "7"))
    assert.isUndefined(await after(429, "soon"))
    assert.isUndefined(await after(429, "-7"))
    assert.isUndefined(await after(429, ["7", "9"]))
  })
})

describe("Before the response head", () => {
  it("8 informational responses are skipped", async () => {
    const early = "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n".repeat(8)
    assert.deepEqual(await answering(`${early}HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n`), delivered())
  })

  it("the ninth informational response is a protocol failure", async () => {
    const early = "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(9)
    assert.deepEqual(await answering(`${early}HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n`), failed("protocol", true))
  })

  it("an endless stream of 103 ends, long before the deadline", async () => {
    const receiver = await serveRaw((socket) => {
      const timer = setInterval(() => socket.write("HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n"), 5)
      socket.on("close", () => clearInterval(timer))
    })
    const outcome = await sendOnce(`http://name.test:${receiver.port}/`)
    assert.deepEqual(stable(outcome), failed("protocol", true))
    assert.isBelow(outcome.durationMs, 10_000)
    await until(() => receiver.open === 0, "the connection to close")
  })

  it("an unsolicited 101 is a protocol failure", async () => {
    const upgrade = "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n"
    assert.deepEqual(await answering(upgrade), failed("protocol", true))
  })

  it("an unsolicited 100 is a protocol failure", async () => {
    assert.deepEqual(await answering("HTTP/1.1 100 Continue\r\n\r\n"), failed("protocol", true))
  })

  for (const [what, write] of [
    ["a status line that drips", `HTTP/1.1 200 ${"O".repeat(1_000)}`],
    ["a header that drips", `HTTP/1.1 200 OK\r\nx: ${"y".repeat(1_000)}`]
  ] as const) {
    it(`${what} ends at the deadline`, async () => {
      const receiver = await serveRaw((socket) => {
        let sent = 0
        const timer = setInterval(() => socket.write(write.slice(sent, ++sent)), 20)
        socket.on("close", () => clearInterval(timer))
      })
      const outcome = await sendOnce(`http://name.test:${receiver.port}/`, { deadlineMs: 1_000 })
      assert.deepEqual(stable(outcome), failed("timeout", true))
      assert.isBelow(outcome.durationMs, 10_000)
      await until(() => receiver.open === 0, "the connection to close")
    })
  }

  it("silence ends at the deadline", async () => {
    const receiver = await serveRaw(() => {})
    const outcome = await sendOnce(`http://name.test:${receiver.port}/`, { deadlineMs: 1_000 })
    assert.deepEqual(stable(outcome), failed("timeout", true))
    assert.isAtLeast(outcome.durationMs, 995)
    assert.isBelow(outcome.durationMs, 10_000)
  })

  it("the deadline of the request overrides that of the dispatcher", async () => {
    const receiver = await serveRaw(() => {})
    const outcome = await sendOnce(`http://name.test:${receiver.port}/`, {}, { deadlineMs: 1_000 })
    assert.deepEqual(stable(outcome), failed("timeout", true))
    // The dispatcher has a deadline of 20 s.
    assert.isBelow(outcome.durationMs, 10_000)
  })

  it("headers of 17 kB are too large", async () => {
    const large = `HTTP/1.1 200 OK\r\nx: ${"y".repeat(17_000)}\r\n\r\n`
    assert.deepEqual(await answering(large), failed("protocol", true))
  })

  it("3,000 tiny headers are too many", async () => {
    assert.deepEqual(await answering(`HTTP/1.1 200 OK\r\n${"a:\r\n".repeat(3_000)}\r\n`), failed("protocol", true))
  })

  it("200 headers are read", async () => {
    const headers = `${"a: b\r\n".repeat(199)}content-length: 0\r\n`
    assert.deepEqual(await answering(`HTTP/1.1 200 OK\r\n${headers}\r\n`), delivered())
  })

  it("headers named like members of every object are read", async () => {
    const headers = "__proto__: x\r\nconstructor: y\r\ntoString: z\r\nhasOwnProperty: 1\r\ncontent-length: 0\r\n"
    assert.deepEqual(await answering(`HTTP/1.1 200 OK\r\n${headers}\r\n`), delivered())
  })

  it("endless line breaks are cut off", async () => {
    const receiver = await serveRaw((socket) => {
      const breaks = Buffer.from("\r\n".repeat(32 * 1_024))
      const more = () => {
        while (!socket.destroyed && socket.write(breaks));
      }
      socket.on("drain", more)
      more()
    })
    const outcome = await sendOnce(`http://name.test:${receiver.port}/`)
    assert.deepEqual(stable(outcome), failed("protocol", true))
    assert.isBelow(outcome.durationMs, 15_000)
  })

  for (const [what, bytes] of [
    ["an SMTP banner", "220 mail.example.com ESMTP\r\n"],
    ["an SSH banner", "SSH-2.0-OpenSSH_9.6\r\n"],
    ["an error of Redis", "-ERR unknown command\r\n"],
    ["a TLS alert", Buffer.from("15030100020228", "hex")],
    ["random bytes", randomBytes(1_024)],
    ["NULs", Buffer.alloc(1_024)],
    ["an HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
    ["HTTP/3.0", "HTTP/3.0 200 OK\r\n\r\n"],
    ["HTML", "<html>hello</html>"],
    ["a header with a space before its colon", "HTTP/1.1 200 OK\r\ncontent-length : 0\r\n\r\n"],
    ["a length that is no number", "HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n"],
    ["two lengths", "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n"]
  ] as const) {
    it(`${what} is not HTTP/1.1`, async () => {
      assert.deepEqual(await answering(bytes), failed("protocol", true))
    })
  }

  it("a connection that ends is a reset", async () => {
    assert.deepEqual(await answering("", true), failed("reset", true))
  })

  it("a connection that ends inside of the head is a reset", async () => {
    assert.deepEqual(await answering("HTTP/1.1 200 OK\r\nx: y", true), failed("reset", true))
  })

  it("RST is a reset", async () => {
    const receiver = await serveRaw((socket) => socket.resetAndDestroy())
    assert.deepEqual(stable(await sendOnce(`http://name.test:${receiver.port}/`)), failed("reset", true))
  })

  it("RST as soon as the connection is accepted is a failure", async () => {
    const receiver = await serveRaw(() => {}, { onConnection: (socket) => void socket.resetAndDestroy() })
    const outcome = stable(await sendOnce(`http://name.test:${receiver.port}/`))
    assert.strictEqual(outcome["_tag"], "Failed")
    assert.include(["reset", "connect"], outcome["reason"])
  })
})

/** How long after the outcome of an attempt its connection closes, in milliseconds. */
const closesAfter = async (receiver: { readonly port: number; readonly open: number }): Promise<number> => {
  assert.deepEqual(stable(await sendOnce(`http://name.test:${receiver.port}/`)), delivered())
  const started = performance.now()
  await until(() => receiver.open === 0, "the connection to close")
  return performance.now() - started
}

describe("After the response head", () => {
  it("the outcome does not wait for the body", async () => {
    const receiver = await serveRaw((socket) => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n"))
    const durationMs = await leastOfThree(async () => {
      const outcome = await sendOnce(`http://name.test:${receiver.port}/`)
      assert.deepEqual(stable(outcome), delivered())
      return outcome.durationMs
    })
    assert.isBelow(durationMs, 1_500)
  })

  it("a slow body is discarded for 2 seconds", async () => {
    let openMs = 0
    const receiver = await serveRaw((socket) => {
      const started = performance.now()
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n")
      const timer = setInterval(() => socket.write("x"), 50)
      socket.on("close", () => {
        clearInterval(timer)
        openMs = performance.now() - started
      })
    })
    const { send } = dispatcher()
    assert.deepEqual(stable(await send({ url: `http://name.test:${receiver.port}/`, body: "" })), delivered())
    await until(() => openMs > 0, "the connection to close")
    assert.isAtLeast(openMs, 1_990)
    assert.isBelow(openMs, 20_000)
  })

  it("a body of 64 KiB is discarded and its connection kept", async () => {
    const body = randomBytes(64 * 1_024)
    const receiver = await serveHttp((_, response) => response.end(body))
    const { send } = dispatcher()
    for (let attempt = 0; attempt < 3; attempt++) {
      assert.deepEqual(stable(await send({ url: `http://name.test:${receiver.port}/`, body: "" })), delivered())
      await passTurns()
    }
    assert.strictEqual(receiver.connections, 1)
  })

  it("a chunked body of 64 KiB is discarded and its connection kept", async () => {
    const receiver = await serveHttp((_, response) => {
      for (let chunk = 0; chunk < 64; chunk++) response.write(Buffer.alloc(1_024))
      response.end()
    })
    const { send } = dispatcher()
    for (let attempt = 0; attempt < 3; attempt++) {
      assert.deepEqual(stable(await send({ url: `http://name.test:${receiver.port}/`, body: "" })), delivered())
      await passTurns()
    }
    assert.strictEqual(receiver.connections, 1)
  })

  it("a connection with a longer announced body is closed at once", async () => {
    const receiver = await serveRaw((socket) => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 65537\r\n\r\n"))
    // Discarding takes 2 seconds.
    assert.isBelow(await leastOfThree(() => closesAfter(receiver)), 1_500)
  })

  it("a connection with a longer chunked body is closed", async () => {
    let written = 0
    const receiver = await serveRaw((socket) => {
      socket.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
      const chunk = Buffer.from(`1000\r\n${"x".repeat(0x1000)}\r\n`)
      const timer = setInterval(() => {
        socket.write(chunk)
        written += 0x1000
      }, 2)
      socket.on("close", () => clearInterval(timer))
    })
    assert.deepEqual(stable(await sendOnce(`http://name.test:${receiver.port}/`)), delivered())
    await until(() => receiver.open === 0, "the connection to close")
    assert.isBelow(written, 64 * 1_024 + 16 * 0x1000)
  })

  it("endless chunk extensions are cut off, although they are not part of the body", async () => {
    const receiver = await serveRaw((socket) => {
      socket.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1;")
      const timer = setInterval(() => socket.write(`a=${"b".repeat(8_000)};`), 2)
      socket.on("close", () => clearInterval(timer))
    })
    assert.isBelow(await leastOfThree(() => closesAfter(receiver)), 1_500)
  })

  it("bodies of 10 MB do not grow the heap", async () => {
    const body = Buffer.alloc(10_000_000, "x")
    const receiver = await serveHttp((request, response) => {
      // Every second one has no length.
      if (request.url === "/0") response.setHeader("content-length", body.length)
      response.end(body)
    })
    const { send } = dispatcher()
    const attempt = (index: number) => send({ url: `http://name.test:${receiver.port}/${index % 2}`, body: "" })
    for (let index = 0; index < 10; index++) await attempt(index)
    const before = await heldBytes()
    for (let index = 0; index < 100; index++) assert.deepEqual(stable(await attempt(index)), delivered())
    await until(() => receiver.open <= 1, "connections to close")
    // 1,000 MB were sent.
    assert.isBelow((await heldBytes()) - before, 5_000_000)
  })

  it("a gzip bomb is not decompressed", async () => {
    // 60 MB in 60 kB.
    const bomb = gzipSync(Buffer.alloc(60_000_000))
    assert.isBelow(bomb.length, 64 * 1_024)
    const receiver = await serveHttp((_, response) =>
      response.writeHead(200, { "content-encoding": "gzip", "content-length": bomb.length }).end(bomb)
    )
    const { send } = dispatcher()
    await send({ url: `http://name.test:${receiver.port}/`, body: "" })
    const before = process.memoryUsage()
    for (let attempt = 0; attempt < 5; attempt++) {
      assert.deepEqual(stable(await send({ url: `http://name.test:${receiver.port}/`, body: "" })), delivered())
      await passTurns()
    }
    assert.isBelow(process.memoryUsage().rss - before.rss, 50_000_000)
    assert.strictEqual(receiver.connections, 1)
    assert.isUndefined(receiver.requests[0]!.headers["accept-encoding"])
  })

  it("garbage after the response closes the connection and changes no outcome", async () => {
    const receiver = await serveRaw((socket) =>
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\nHTTP/1.1 500 Injected\r\ncontent-length: 0\r\n\r\n")
    )
    const { send } = dispatcher()
    for (let attempt = 0; attempt < 3; attempt++) {
      assert.deepEqual(stable(await send({ url: `http://name.test:${receiver.port}/`, body: "" })), delivered())
    }
  })

  it("a body that ends too early changes no outcome", async () => {
    const receiver = await serveRaw((socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nshort"))
    const { send } = dispatcher()
    assert.deepEqual(stable(await send({ url: `http://name.test:${receiver.port}/`, body: "" })), delivered())
    await passTurns(6)
    assert.deepEqual(stable(await send({ url: `http://name.test:${receiver.port}/`, body: "" })), delivered())
  })

  it("a response before the request was read is the outcome", async () => {
    const receiver = await serveRaw((socket) => socket.write("HTTP/1.1 413 Too Large\r\ncontent-length: 0\r\n\r\n"))
    const outcome = await sendOnce(`http://name.test:${receiver.port}/`, {}, { body: "x".repeat(1_000_000) })
    assert.deepEqual(stable(outcome), refused(413, false))
  })
})
