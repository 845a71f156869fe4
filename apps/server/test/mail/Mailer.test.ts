/** SMTP servers that send what no SMTP server sends, or never come to an end. */
import { once } from "node:events"
import { type AddressInfo, createServer, type Socket } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Result } from "effect"
import { TestClock } from "effect/testing"
import * as Mailer from "../../src/mail/Mailer.ts"

/** Starts a server that does this with a connection. */
const serve = (talk: (socket: Socket) => void) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const sockets = new Set<Socket>()
      const server = createServer((socket) => {
        sockets.add(socket)
        socket.on("error", () => {}).on("close", () => sockets.delete(socket))
        talk(socket)
      }).listen(0, "127.0.0.1")
      await once(server, "listening")
      return { server, sockets, url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}` }
    }),
    ({ server, sockets }) =>
      Effect.sync(() => {
        server.close()
        for (const socket of sockets) socket.destroy()
      })
  )

const sendBy = (smtpUrl: string) =>
  Effect.flatMap(
    Mailer.make({ smtpUrl, from: "govoice@example.com", publicUrl: "https://govoice.example.com" }),
    (send) => Effect.result(send("owner@example.com", { subject: "A subject", lines: ["A line"] }))
  )

const reasonOf = (result: Result.Result<void, string>) => (Result.isFailure(result) ? result.failure : "sent")

/** Sends this for as long as it is read. */
const flood = (socket: Socket, text: string): void => {
  const write = () => {
    while (!socket.destroyed && socket.write(text));
  }
  socket.on("drain", write)
  write()
}

describe("a mail", () => {
  it.effect("leaves no connection behind when its time is over", () =>
    Effect.gen(function* () {
      const greeted = Promise.withResolvers<Socket>()
      const { url } = yield* serve((socket) => {
        socket.write("220 smtp.example.com\r\n")
        socket.once("data", () => {
          const timer = setInterval(() => socket.write("250-smtp.example.com\r\n"), 50)
          socket.once("close", () => clearInterval(timer))
          greeted.resolve(socket)
        })
      })
      const sending = yield* Effect.forkChild(sendBy(url))
      const socket = yield* Effect.promise(() => greeted.promise)
      const closed = once(socket, "close")
      yield* TestClock.adjust("30 seconds")
      assert.strictEqual(reasonOf(yield* Fiber.join(sending)), "no answer within 30 s")
      yield* Effect.promise(() => closed)
    })
  )

  for (const [name, text] of [
    ["empty lines", "\r\n".repeat(16_384)],
    ["a line without an end", "2".repeat(65_536)],
    ["an answer without an end", "250-smtp.example.com\r\n".repeat(3000)]
  ] as const) {
    it.effect(`fails when the SMTP server floods it with ${name}`, () =>
      Effect.gen(function* () {
        const { url } = yield* serve((socket) => {
          socket.write("220 smtp.example.com\r\n")
          socket.once("data", () => flood(socket, text))
        })
        assert.strictEqual(reasonOf(yield* sendBy(url)), "the SMTP server sent more than 64 KiB")
      })
    )
  }

  it.effect("fails with a reason that fits a line of the log", () =>
    Effect.gen(function* () {
      const { url } = yield* serve((socket) => {
        socket.write("220 smtp.example.com\r\n")
        socket.on("data", () => socket.write(`550 ${"No. ".repeat(10_000)}\r\n`))
      })
      assert.isAtMost(reasonOf(yield* sendBy(url)).length, 1000)
    })
  )
})
