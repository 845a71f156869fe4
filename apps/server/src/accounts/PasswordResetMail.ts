/** Sends the mails with the links that reset passwords. A mail that cannot be sent is sent again while its link would be valid. */
import { Effect, Layer, Schedule } from "effect"
import * as OpaqueToken from "../crypto/OpaqueToken.ts"
import { reasonOf } from "../observability/reasonOf.ts"
import { isLoopback } from "../settings/loopback.ts"
import { Settings, type SettingsShape } from "../settings/Settings.ts"
import { type Language, PasswordResets } from "./PasswordResets.ts"

const texts: Readonly<
  Record<Language, { readonly subject: string; readonly body: (link: string) => ReadonlyArray<string> }>
> = {
  en: {
    subject: "Reset your Govoice password",
    body: (link) => [
      "Open this link to choose a new password. It works once, within 30 minutes of your request:",
      "",
      link,
      "",
      "Choosing a new password ends all sessions of the account. API keys stay valid.",
      "If you did not ask for this, ignore this message: your password has not changed."
    ]
  },
  pl: {
    subject: "Nowe hasło do Govoice",
    body: (link) => [
      "Otwórz ten link, aby ustawić nowe hasło. Działa raz, przez 30 minut od zgłoszenia:",
      "",
      link,
      "",
      "Ustawienie nowego hasła kończy wszystkie sesje konta. Klucze API pozostają ważne.",
      "Jeśli to nie Twoja prośba, zignoruj tę wiadomość: hasło się nie zmieniło."
    ]
  }
}

const every = "2 seconds"

// Shorter than the minute after which another worker would take the mail.
const timeoutMs = 10_000
const withinMs = 30_000

const makeSend = (mail: NonNullable<SettingsShape["mail"]>) =>
  Effect.promise(async () => {
    const { createTransport } = await import("nodemailer")
    const transport = createTransport({
      url: mail.smtpUrl,
      requireTLS: !isLoopback(new URL(mail.smtpUrl).hostname),
      connectionTimeout: timeoutMs,
      greetingTimeout: timeoutMs,
      socketTimeout: timeoutMs,
      dnsTimeout: timeoutMs
    })
    return (email: string, language: Language, token: string) => {
      const { body, subject } = texts[language]
      return transport.sendMail({
        from: mail.from,
        // Not a list: an address with a comma stays one.
        to: { name: "", address: email },
        subject,
        text: `${body(`${mail.publicUrl}/console/reset#${token}`).join("\n")}\n`
      })
    }
  })

/** Sends the mails in the background, if the deployment has an SMTP server. */
export const layer: Layer.Layer<never, never, PasswordResets | Settings> = Layer.effectDiscard(
  Effect.gen(function* () {
    const { mail } = yield* Settings
    if (mail === undefined) return
    const resets = yield* PasswordResets
    const send = yield* makeSend(mail)

    const sendDue: Effect.Effect<void> = Effect.gen(function* () {
      const token = OpaqueToken.refreshToken()
      const hash = OpaqueToken.hash(token)
      const due = yield* resets.take(hash)
      if (due === undefined) return
      yield* Effect.tryPromise({ try: () => send(due.email, due.language, token), catch: reasonOf }).pipe(
        Effect.timeout(withinMs),
        Effect.matchEffect({
          onSuccess: () => resets.sent(hash),
          onFailure: (reason) =>
            Effect.annotateLogs(Effect.logWarning("Mail not sent; it is sent again in a minute"), {
              reason: typeof reason === "string" ? reason : `no answer within ${withinMs / 1000} s`
            })
        })
      )
      return yield* sendDue
    })

    const iterate = Effect.catchCause(sendDue, (cause) => Effect.logWarning("Mails not sent; retrying", cause))
    yield* Effect.forkScoped(Effect.repeat(iterate, Schedule.spaced(every)))
  })
)
