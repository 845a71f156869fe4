/** Sends mails by the SMTP server of the settings. */
import { Effect, Metric } from "effect"
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

/** Makes the function that sends mails. */
export const make = (settings: NonNullable<SettingsShape["mail"]>): Effect.Effect<Send> =>
  Effect.promise(async () => {
    const { createTransport } = await import("nodemailer")
    const transport = createTransport({
      url: settings.smtpUrl,
      requireTLS: !isLoopback(new URL(settings.smtpUrl).hostname),
      connectionTimeout: timeoutMs,
      greetingTimeout: timeoutMs,
      socketTimeout: timeoutMs,
      dnsTimeout: timeoutMs
    })
    return (email, { lines, subject }) =>
      Effect.tryPromise({
        try: () =>
          transport.sendMail({
            from: settings.from,
            // Not a list: an address with a comma stays one.
            to: { name: "", address: email },
            subject,
            text: `${lines.join("\n")}\n`
          }),
        catch: reasonOf
      }).pipe(
        Effect.timeout(withinMs),
        Effect.mapError((reason) => (typeof reason === "string" ? reason : `no answer within ${withinMs / 1000} s`)),
        Effect.tap(() => Metric.update(EngineMetrics.mails("sent"), 1)),
        Effect.tapError(() => Metric.update(EngineMetrics.mails("failed"), 1)),
        Effect.asVoid
      )
  })
