/** `govoice notices`: prints what owners should know now, whether or not they were mailed. */
import { Console, Effect } from "effect"
import * as Notices from "../mail/Notices.ts"
import { hostOf } from "../mail/texts.ts"
import { Settings } from "../settings/Settings.ts"
import type { EnvironmentVariables } from "../settings/EnvironmentVariables.ts"
import * as deployment from "./deployment.ts"

const words: Readonly<Record<Notices.StandingNotice["kind"], string>> = {
  endpoint_failing: "endpoint fails",
  endpoint_disabled: "endpoint switched off",
  credential_expiring: "credential expires",
  offline_certificate_expiring: "offline certificate expires",
  token_login_ending: "logins by token end"
}

const minute = (at: Date): string => `${at.toISOString().slice(0, 16).replace("T", " ")} UTC`

const whenOf = ({ at, endpoint_id }: Notices.StandingNotice): string =>
  at === null ? "" : endpoint_id === null ? minute(at) : `since ${minute(at)}`

const columns = 80

const cut = (text: string, length: number): string =>
  Array.from(text).length <= length
    ? text
    : `${Array.from(text)
        .slice(0, length - 1)
        .join("")}…`

const print = (notice: Notices.StandingNotice): string => {
  const what = `${words[notice.kind].padEnd(29)}${whenOf(notice)}`.trimEnd()
  const name = notice.endpoint_id === null ? notice.organization_name.replaceAll(/\s+/g, " ") : hostOf(notice)
  return [
    `${cut(name, columns - 7)}${notice.is_told ? " (told)" : ""}`,
    `  ${what}`,
    `  ${notice.organization_id}${notice.endpoint_id === null ? "" : `  ${notice.endpoint_id}`}`
  ].join("\n")
}

const toJson = ({ at, endpoint_id, is_told, kind, organization_id, organization_name }: Notices.StandingNotice) => ({
  type: kind,
  organization_id,
  organization_name,
  endpoint_id,
  since: endpoint_id === null ? null : at,
  expires_at: endpoint_id === null ? at : null,
  told: is_told
})

/** Prints the notices of all organizations. */
export const list = Effect.fnUntraced(function* (env: EnvironmentVariables, { json }: { readonly json: boolean }) {
  const settings = yield* deployment.settings(env)
  const found = yield* deployment.onMigrated(
    settings,
    Effect.gen(function* () {
      return yield* (yield* Notices.Notices).standing()
    }).pipe(Effect.provide(Notices.layer), Effect.provideService(Settings, settings))
  )
  if (json) return yield* Console.log(JSON.stringify(found.map(toJson), null, 2))
  yield* Console.log(found.length === 0 ? "There are no notices." : found.map(print).join("\n"))
})
