/**
 * Switches off endpoints that only fail, and mails owners what they should know, once each: an account gets at most one mail in 15
 * minutes, with everything that it was not told.
 */
import { Effect, Layer, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import * as OutageLog from "../database/OutageLog.ts"
import { StatementTime } from "../database/StatementTime.ts"
import { disableFailing } from "../deliveries/notices.sql.ts"
import { Settings } from "../settings/Settings.ts"
import * as Mailer from "./Mailer.ts"
import { Notices } from "./Notices.ts"
import { noticeMail } from "./texts.ts"

const every = "1 minute"

const makeDisable = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { disableAfterDays } = (yield* Settings).webhooks
  const statementTime = (yield* StatementTime)(sql)
  if (disableAfterDays === null) return Effect.void

  const disable: Effect.Effect<void> = Effect.gen(function* () {
    const [disabled] = yield* disableFailing(sql, yield* statementTime, disableAfterDays)
    if (disabled === undefined) return
    yield* Effect.annotateLogs(Effect.logInfo("Endpoint switched off, because it only failed"), {
      endpointId: disabled.id,
      organizationId: disabled.organization_id,
      days: disableAfterDays
    })
    return yield* disable
  }).pipe(Effect.orDie)
  return disable
})

const makeSendDue = Effect.gen(function* () {
  const { mail, webhooks } = yield* Settings
  if (mail === undefined) return Effect.void
  const { take, told, untold } = yield* Notices
  const send = yield* Mailer.make(mail)

  const sendDue: Effect.Effect<void> = Effect.gen(function* () {
    const account = yield* take
    if (account === undefined) return
    const notices = yield* untold(account.id)
    const text = noticeMail(account.language, notices, {
      disableAfterDays: webhooks.disableAfterDays,
      publicUrl: mail.publicUrl
    })
    yield* Effect.matchEffect(text === undefined ? Effect.void : send(account.email, text), {
      onSuccess: () => told(notices),
      onFailure: (reason) =>
        Effect.annotateLogs(Effect.logWarning("Mail with notices not sent; it is sent again in 15 minutes"), {
          accountId: account.id,
          reason
        })
    })
    return yield* sendDue
  })
  return sendDue
})

/** The steps of a round: switches off what is due, and sends what is due. Mails may take long, so that they are not waited for. */
export const makeSteps = Effect.gen(function* () {
  return { disable: yield* makeDisable, sendDue: yield* makeSendDue }
})

/** Runs each step every minute for as long as it lives. */
export const layer: Layer.Layer<never, never, Notices | Settings | SqlClient.SqlClient> = Layer.effectDiscard(
  Effect.gen(function* () {
    const { disable, sendDue } = yield* makeSteps
    for (const step of [disable, sendDue]) {
      const iteration = step.pipe(OutageLog.tolerate("notices", "Notices failed; retrying"))
      yield* Effect.forkScoped(Effect.repeat(iteration, Schedule.spaced(every)))
    }
  })
)
