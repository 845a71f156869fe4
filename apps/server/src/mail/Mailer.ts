/** Sends mails by the SMTP server of the settings. */
import { Effect, Metric } from "effect"
import { connect, type Socket } from "node:net"
import * as EngineMetrics from "../observability/EngineMetrics.ts"
import { reasonOf } from "../observability/reasonOf.ts"
import { isLoopback } from "../settings/loopback.ts"
import type { SettingsShape } from "../settings/Settings.ts"

/** A mail in plain text. */
export interface Mail {
  readonly subject: string
  readonly lines: ReadonlyArray<string>
}

/** Sends a mail. Fails with the reason, after 30 seconds at the latest. */
export type Send = (email: string, mail: Mail) => Effect.Effect<void, string>

const timeoutMs = 10_000
const withinMs = 30_000
const maxReason = 300

// The answers to a mail take a few kilobytes.
const maxReceived = 64 * 1024

/**
 * Connects to the SMTP server. Until TLS has proved who it is, anybody on the way can send what it likes, and Nodemailer keeps and
 * examines all empty lines: so many end the connection.
 */
const connectTo = ({ hostname, port, protocol }: URL): Socket => {
  const socket = connect({
    host: hostname.replace(/^\[(.*)\]$/, "$1"),
    port: Number(port) || (protocol === "smtps:" ? 465 : 587)
  })
  let received = 0
  return socket
    .on("error", () => {})
    .on("data", ({ length }: Buffer) => {
      received += length
      if (received > maxReceived) socket.destroy(new Error(`the SMTP server sent more than ${maxReceived / 1024} KiB`))
    })
}

/** Makes the function that sends mails. */
export const make = (settings: NonNullable<SettingsShape["mail"]>): Effect.Effect<Send> =>
  Effect.promise(async () => {
    const { createTransport } = await import("nodemailer")
    const url = new URL(settings.smtpUrl)
    const transport = createTransport({
      url: settings.smtpUrl,
      requireTLS: !isLoopback(url.hostname),
      getSocket: (_options, done) => done(null, { connection: connectTo(url) }),
      connectionTimeout: timeoutMs,
      greetingTimeout: timeoutMs,
      socketTimeout: timeoutMs
    })
    return (email, { lines, subject }) =>
      Effect.tryPromise({
        try: (signal) =>
          transport.sendMail({
            from: settings.from,
            // Not a list: an address with a comma stays one.
            to: { name: "", address: email },
            subject,
            text: `${lines.join("\n")}\n`,
            signal
          }),
        catch: (error) => reasonOf(error).slice(0, maxReason)
      }).pipe(
        Effect.timeout(withinMs),
        Effect.mapError((reason) => (typeof reason === "string" ? reason : `no answer within ${withinMs / 1000} s`)),
        Effect.tap(() => Metric.update(EngineMetrics.mails("sent"), 1)),
        Effect.tapError(() => Metric.update(EngineMetrics.mails("failed"), 1)),
        Effect.asVoid
      )
  })
