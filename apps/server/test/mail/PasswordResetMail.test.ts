/** Mails that reset passwords, while the SMTP server does not answer for an address. */
import { once } from "node:events"
import { type AddressInfo, createServer, type Socket } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import { SqlError } from "effect/sql"
import { type DueReset, PasswordResets } from "../../src/accounts/PasswordResets.ts"
import { OutageLog } from "../../src/database/OutageLog.ts"
import * as PasswordResetMail from "../../src/mail/PasswordResetMail.ts"
import * as ThrottledLog from "../../src/observability/ThrottledLog.ts"
import * as live from "../support/live.ts"
import * as TestSettings from "../support/TestSettings.ts"

/** An SMTP server that answers nothing about recipients whose address has "slow". */
const server = Effect.acquireRelease(
  Effect.promise(async () => {
    const sockets = new Set<Socket>()
    const happened: Array<string> = []
    const accepted = Promise.withResolvers<void>()
    const listening = createServer((socket) => {
      sockets.add(socket)
      let isSlow = false
      socket.write("220 smtp.example.com\r\n")
      socket
        .on("error", () => {})
        .on("close", () => isSlow && happened.push("slow ended"))
        .on("data", (data) => {
          const line = data.toString()
          isSlow ||= line.startsWith("RCPT TO:<slow")
          if (isSlow) return
          if (line.endsWith("\r\n.\r\n")) {
            happened.push("sent")
            accepted.resolve()
          }
          socket.write(line.startsWith("DATA") ? "354 Go on\r\n" : "250 OK\r\n")
        })
    }).listen(0, "127.0.0.1")
    await once(listening, "listening")
    return { accepted: accepted.promise, happened, listening, sockets }
  }),
  ({ listening, sockets }) =>
    Effect.sync(() => {
      listening.close()
      for (const socket of sockets) socket.destroy()
    })
)

const resetsOf = (due: Array<DueReset>) =>
  Layer.mock(PasswordResets)({ take: () => Effect.sync(() => due.shift()), sent: () => Effect.void })

describe("mails that reset passwords", () => {
  it.live("are sent while the SMTP server does not answer for another address", () =>
    Effect.gen(function* () {
      const { accepted, happened, listening } = yield* server
      const { port } = listening.address() as AddressInfo
      const mail = {
        smtpUrl: `smtp://127.0.0.1:${port}`,
        from: "govoice@example.com",
        publicUrl: "https://govoice.example.com"
      }
      const due = ["slow@example.com", "owner@example.com"].map((email) => ({ email, language: "en" }) as const)
      yield* Layer.build(PasswordResetMail.layer.pipe(Layer.provide([resetsOf(due), TestSettings.layer({ mail })])))
      yield* Effect.promise(() => accepted)
      assert.deepStrictEqual(happened, ["sent"])
    })
  )

  it.live("leave one line in the log when the database is unavailable", () =>
    Effect.gen(function* () {
      const lines: Array<unknown> = []
      let takes = 0
      const unavailable = Effect.suspend(() => {
        takes++
        return Effect.die(
          new SqlError.SqlError({ reason: new SqlError.ConnectionError({ cause: new Error("connect ECONNREFUSED") }) })
        )
      })
      const mail = {
        smtpUrl: "smtp://127.0.0.1:1",
        from: "govoice@example.com",
        publicUrl: "https://govoice.example.com"
      }
      yield* Layer.build(
        PasswordResetMail.layer.pipe(
          Layer.provide([
            Layer.mock(PasswordResets)({ take: () => unavailable }),
            TestSettings.layer({ mail }),
            Layer.succeed(OutageLog)(ThrottledLog.make({ down: "Database unavailable", recovered: "" })),
            Logger.layer([Logger.make(({ message }) => void lines.push(message))])
          ])
        )
      )
      yield* live.poll(
        Effect.sync(() => takes),
        (count) => count >= 3
      )
      assert.deepStrictEqual(lines.flat(), ["Database unavailable"])
    })
  )
})
