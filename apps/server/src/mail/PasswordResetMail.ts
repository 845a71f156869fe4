/** Sends the mails with the links that reset passwords. A mail that cannot be sent is sent again while its link would be valid. */
import { Effect, Layer, Schedule } from "effect"
import { PasswordResets } from "../accounts/PasswordResets.ts"
import * as OpaqueToken from "../crypto/OpaqueToken.ts"
import * as OutageLog from "../database/OutageLog.ts"
import { Settings } from "../settings/Settings.ts"
import * as Mailer from "./Mailer.ts"
import { resetMail } from "./texts.ts"

const every = "2 seconds"

// An SMTP server that is slow for one address does not hold up the others. Some take no more connections of one client.
const atOnce = 3

/** Sends the mails in the background, if the deployment has an SMTP server. */
export const layer: Layer.Layer<never, never, PasswordResets | Settings> = Layer.effectDiscard(
  Effect.gen(function* () {
    const { mail } = yield* Settings
    if (mail === undefined) return
    const resets = yield* PasswordResets
    const send = yield* Mailer.make(mail)

    const sendDue: Effect.Effect<void> = Effect.gen(function* () {
      const token = OpaqueToken.refreshToken()
      const hash = OpaqueToken.hash(token)
      // Another worker would take it after a minute, which is longer than the sending lasts.
      const due = yield* resets.take(hash)
      if (due === undefined) return
      yield* Effect.matchEffect(send(due.email, resetMail(due.language, `${mail.publicUrl}/console/reset#${token}`)), {
        onSuccess: () => resets.sent(hash),
        onFailure: (reason) =>
          Effect.annotateLogs(Effect.logWarning("Mail not sent; it is sent again later"), { reason })
      })
      return yield* sendDue
    })

    const iteration = sendDue.pipe(OutageLog.tolerate("password_resets", "Mails not sent; retrying"))
    yield* Effect.replicateEffect(Effect.forkScoped(Effect.repeat(iteration, Schedule.spaced(every))), atOnce, {
      discard: true
    })
  })
)
