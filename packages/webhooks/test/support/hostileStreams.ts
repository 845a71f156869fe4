/**
 * Gives the adapters request streams that other middleware or the client has spoiled, and prints one line for each: the status, or
 * `closed`, after the adapter has come to an end. An adapter that does not is `pending`. With the argument `listening` the process
 * has a listener for exceptions that nobody caught, and prints them; without it they end the process.
 */
import { createHandler as createFastifyHandler } from "@govoice/webhooks/fastify"
import { createHandler as createNodeHandler } from "@govoice/webhooks/node"
import { signedWebhook } from "@govoice/webhooks/testing"
import { createHandler as createWebHandler } from "@govoice/webhooks/web"
import express5 from "express"
import fastify5 from "fastify"
import fastify4 from "fastify4"
import { EventEmitter, once } from "node:events"
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import { createRequire } from "node:module"
import { connect, type AddressInfo } from "node:net"
import { Readable, Writable } from "node:stream"

const express4 = createRequire(import.meta.url)("express4") as typeof express5

if (process.argv[2] === "listening") process.on("uncaughtException", (error) => console.log(`uncaught ${error}`))

const secret = "whsec_kfUZ5zdM0s0m5sLzu0Md5ZZ3g1vSyrIhrVOTm0VbTPw"
const metadata = { note: "Zażółć gęślą jaźń".repeat(50) }
const webhook = () => signedWebhook({ secret, type: "invoice.accepted", data: { invoice: { metadata } } })

// -----------------------------------------------------------------------------
// What other middleware does to a request
// -----------------------------------------------------------------------------

interface Case {
  readonly spoil: (request: IncomingMessage, response: ServerResponse) => unknown
  /** Where the client leaves. */
  readonly leave?: "after half of the body" | "when the middleware runs" | "when the handler runs"
  readonly times?: number
  /** Whether the answer is of the framework and not of the adapter there. */
  readonly notInFastify?: true
}

const pause = () => new Promise((resolve) => setTimeout(resolve, 30))
const nothing = () => {}
/** Ends with the stream of the request, as a client that left ends it. */
const gone = (request: IncomingMessage) =>
  new Promise((resolve) => {
    if (request.destroyed) resolve(undefined)
    else request.once("close", resolve)
  })

const cases: Readonly<Record<string, Case>> = {
  "left alone": { spoil: nothing },
  "encoded as utf8": { spoil: (request) => request.setEncoding("utf8") },
  "encoded as UTF-8, later": { spoil: (request) => pause().then(() => request.setEncoding("utf-8" as "utf8")) },
  "encoded as ascii": { spoil: (request) => request.setEncoding("ascii") },
  "encoded as hex": { spoil: (request) => request.setEncoding("hex") },
  "half read": {
    spoil: async (request) => {
      await once(request, "data")
      request.pause()
    }
  },
  "read by read()": {
    spoil: async (request) => {
      await once(request, "readable")
      request.read(10)
    }
  },
  ended: {
    spoil: async (request) => {
      request.resume()
      await once(request, "end")
    }
  },
  "read by another listener too": { spoil: (request) => request.on("data", nothing) },
  paused: { spoil: (request) => request.pause() },
  "waited for by a reader that does not read": { spoil: (request) => request.on("readable", nothing) },
  "piped into something that is full": {
    spoil: (request) => request.pipe(new Writable({ highWaterMark: 1, write: nothing }))
  },
  destroyed: { spoil: (request) => request.destroy() },
  "destroyed with an error": { spoil: (request) => request.destroy(new Error("by the middleware")) },
  "destroyed with an error, before": {
    spoil: (request) => {
      request.on("error", nothing).destroy(new Error("by the middleware"))
      return pause()
    }
  },
  "destroyed with an error while it is read": {
    spoil: (request) => void request.once("data", () => request.destroy(new Error("by the middleware")))
  },
  "answered by another": { spoil: (_request, response) => response.writeHead(503).end(), notInFastify: true },
  "answered by a hook that throws": {
    notInFastify: true,
    spoil: (_request, response) => {
      response.writeHead = () => {
        throw new Error("by the middleware")
      }
    }
  },
  "left by the client while it is read": { spoil: nothing, leave: "after half of the body", times: 20 },
  "left by the client while other middleware runs": {
    spoil: gone,
    leave: "when the middleware runs",
    times: 20
  },
  "left by the client, half read": {
    spoil: async (request) => {
      await once(request, "data")
      request.pause()
      await gone(request)
    },
    leave: "when the middleware runs"
  },
  "left by the client, encoded": {
    spoil: (request) => {
      request.setEncoding("utf8")
      return gone(request)
    },
    leave: "when the middleware runs"
  },
  "left by the client while the handler runs": { spoil: nothing, leave: "when the handler runs" }
}

// -----------------------------------------------------------------------------
// Servers with an adapter
// -----------------------------------------------------------------------------

/** Tells the client when the middleware or the handler runs, and the judge when the adapter has come to an end. */
const steps = new EventEmitter().setMaxListeners(0)
let current: Case = cases["left alone"]!

const options = { secret, onError: nothing, onRejected: nothing }
const onWebhook = async () => {
  steps.emit("when the handler runs")
  if (current.leave === "when the handler runs") await pause()
}
const spoil = async (request: IncomingMessage, response: ServerResponse) => {
  steps.emit("when the middleware runs")
  await current.spoil(request, response)
}

type Listener = (request: IncomingMessage, response: ServerResponse) => unknown

const inExpress = (express: typeof express5): Listener => {
  const handler = createNodeHandler(options, onWebhook)
  const app = express()
  app.use((request, response, next) => void spoil(request, response).then(() => next(), next))
  app.use((request, response) => void handler(request, response).then(() => steps.emit("end")))
  return app
}

const inNode: Listener = async (request, response) => {
  await spoil(request, response)
  await createNodeHandler(options, onWebhook)(request, response)
  steps.emit("end")
}

const inFastify = async (fastify: typeof fastify5): Promise<Server> => {
  const app = fastify()
  app.addHook("onRequest", async (request, reply) => spoil(request.raw, reply.raw))
  app.addHook("onSend", async () => void steps.emit("end"))
  await app.register(createFastifyHandler(options, onWebhook), { path: "/" })
  await app.ready()
  return app.server
}

const servers: ReadonlyArray<readonly [name: string, server: Server]> = [
  ["node:http", createServer((request, response) => void inNode(request, response))],
  ["Express 5", createServer(inExpress(express5))],
  ["Express 4", createServer(inExpress(express4))],
  ["Fastify 5", await inFastify(fastify5)],
  // Both have what the plugin uses; their types differ in other members.
  ["Fastify 4", await inFastify(fastify4 as unknown as typeof fastify5)]
]

/** Sends a webhook in two halves. Resolves with the status, or with `closed`. */
const send = (server: Server, leave: Case["leave"]) =>
  new Promise<string>((resolve) => {
    const { body, headers } = webhook()
    const bytes = Buffer.from(body)
    const socket = connect((server.address() as AddressInfo).port, "127.0.0.1")
    let answer = ""
    socket.on("data", (chunk) => {
      answer += chunk.toString()
      if (answer.includes("\r\n\r\n")) socket.destroy()
    })
    socket.on("error", nothing)
    socket.on("close", () => resolve(/^HTTP\/1.1 (\d+)/.exec(answer)?.[1] ?? "closed"))
    if (leave === "after half of the body") {
      steps.once("when the middleware runs", () => void pause().then(() => socket.destroy()))
    } else if (leave !== undefined) steps.once(leave, () => socket.destroy())
    const head = Object.entries({ Host: "localhost", "Content-Length": bytes.length, ...headers })
    socket.write(`POST / HTTP/1.1\r\n${head.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`)
    socket.write(bytes.subarray(0, bytes.length / 2))
    setTimeout(() => {
      if (leave !== "after half of the body" && !socket.destroyed) socket.write(bytes.subarray(bytes.length / 2))
    }, 10)
  })

/** A limit far beyond what a step takes. It is reached by an adapter that stays pending. */
const limit = 20_000
const withLimit = <A>(promise: Promise<A>): Promise<A | "pending"> =>
  Promise.race([promise, new Promise<"pending">((resolve) => setTimeout(resolve, limit, "pending").unref())])

for (const [adapter, server] of servers) {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  for (const [name, one] of Object.entries(cases)) {
    if (one.notInFastify && adapter.startsWith("Fastify")) continue
    current = one
    const results = new Set<string>()
    for (let time = 0; time < (one.times ?? 1); time += 1) {
      const ended = once(steps, "end")
      const status = await withLimit(send(server, one.leave))
      results.add((await withLimit(ended)) === "pending" ? "pending" : status)
    }
    console.log(`${adapter}, ${name}: ${[...results].join()}`)
  }
  server.close()
  server.closeAllConnections()
}

// -----------------------------------------------------------------------------
// Streams that emulate a request, as hosts of functions make them
// -----------------------------------------------------------------------------

const emulated: Readonly<Record<string, () => Readable>> = {
  "bytes of another kind": () => Readable.from([new Uint8Array([123, 125])]),
  "an array of numbers": () => Readable.from([new Uint16Array([123, 125])]),
  objects: () => Readable.from([{ length: 3 }]),
  strings: () => Readable.from(["{", "}"]),
  nothing: () => Readable.from([]),
  "an error": () =>
    new Readable({
      read() {
        this.destroy(new Error("of the stream"))
      }
    }),
  "an exception": () =>
    new Readable({
      read() {
        throw new Error("of the stream")
      }
    }),
  "an error right before": () => new Readable({ read: nothing }).destroy(new Error("of the stream")),
  "no end, and then it is destroyed": () => {
    const stream = new Readable({ read: nothing })
    setTimeout(() => stream.destroy(), 30)
    return stream
  }
}

for (const [name, make] of Object.entries(emulated)) {
  const { headers } = webhook()
  const lowercase = Object.fromEntries(Object.entries(headers).map(([key, value]) => [key.toLowerCase(), value]))
  const request = Object.assign(make(), { method: "POST", headers: lowercase })
  let status = 0
  const response = { writeHead: (given: number) => ((status = given), { end: nothing }) }
  const ended = createNodeHandler(options, onWebhook)(request, response)
  console.log(`emulated request with ${name}: ${(await withLimit(ended)) === "pending" ? "pending" : status}`)
}

// -----------------------------------------------------------------------------
// Requests of Fetch
// -----------------------------------------------------------------------------

const streams: Readonly<Record<string, (body: string) => Promise<ReadableStream | string> | ReadableStream | string>> =
  {
    "left alone": (body) => body,
    "that breaks off": (body) =>
      new ReadableStream({
        start: (controller) => controller.enqueue(Buffer.from(body.slice(0, 20))),
        pull: (controller) => controller.error(new Error("of the stream"))
      }),
    "that failed before": () =>
      new ReadableStream({ start: (controller) => controller.error(new Error("of the stream")) }),
    "of text": (body) => ReadableStream.from([body.slice(0, 20), body.slice(20)])
  }

const requestOf = async (make: (typeof streams)[string]) => {
  const { body, headers } = webhook()
  return new Request("http://localhost/", { method: "POST", headers, body: await make(body), duplex: "half" })
}

const spoiled: Readonly<Record<string, () => Promise<Request>>> = {
  ...Object.fromEntries(Object.entries(streams).map(([name, make]) => [name, () => requestOf(make)])),
  "that another reader holds": async () => {
    const request = await requestOf(streams["left alone"]!)
    request.body!.getReader()
    return request
  },
  "half read": async () => {
    const request = await requestOf((body) => ReadableStream.from([Buffer.from(body), Buffer.from(body)]))
    const reader = request.body!.getReader()
    await reader.read()
    reader.releaseLock()
    return request
  },
  "read before": async () => {
    const request = await requestOf(streams["left alone"]!)
    await request.text()
    return request
  },
  canceled: async () => {
    const request = await requestOf(streams["left alone"]!)
    await request.body!.cancel()
    return request
  }
}

for (const [name, make] of Object.entries(spoiled)) {
  const answer = await withLimit(createWebHandler(options, onWebhook)(await make()))
  console.log(`Fetch, a body ${name}: ${answer === "pending" ? answer : answer.status}`)
}
console.log("done")
