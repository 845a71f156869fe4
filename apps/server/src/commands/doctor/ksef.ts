/** Checks live mode: the environment of KSeF, its clock, stored credentials, and invoices without a verdict. */
import { Clock, Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import * as GatewayCredentials from "../../invoices/live/GatewayCredentials.ts"
import * as LaneOverview from "../../invoices/live/LaneOverview.ts"
import type { SettingsShape } from "../../settings/Settings.ts"
import * as ksef from "../ksef/deployment.ts"
import { fault, type Finding, ok, warning } from "./Finding.ts"

const maxClockOffsetMs = 30_000

/** The last day on which the rules provide for logins by token (Dz.U. 2025 poz. 1815, § 13). */
const tokensUntil = "2026-12-31"

/** Asks the environment for a challenge, whose time is that of KSeF. */
export const checkEnvironment = (settings: SettingsShape): Effect.Effect<ReadonlyArray<Finding>> =>
  settings.ksef.environment === undefined
    ? Effect.succeed([])
    : ksef
        .withClient(settings, (client) =>
          Effect.gen(function* () {
            const before = yield* Clock.currentTimeMillis
            const { timestampMs } = yield* client.challenge
            const after = yield* Clock.currentTimeMillis
            const offset = Math.max(before - timestampMs, timestampMs - after, 0)
            return [
              ok("ksef", `${settings.ksef.environmentId} answers`),
              offset <= maxClockOffsetMs
                ? ok("ksef", "its clock agrees with this machine's")
                : fault(
                    "ksef",
                    `The clock differs from that of KSeF by ${Math.round(offset / 1000)} s. Logins fail.`,
                    "Synchronize the clock of this machine with NTP."
                  )
            ]
          })
        )
        .pipe(
          Effect.catch(({ message }) =>
            Effect.succeed([
              fault(
                "ksef",
                `${settings.ksef.environmentId} does not answer: ${message}.`,
                "Check the network of this machine, and the announcements of KSeF. Nothing is lost: invoices wait."
              )
            ])
          )
        )

const credentialFindings = (counts: GatewayCredentials.CredentialCounts): ReadonlyArray<Finding> => [
  ...(counts.refused === 0
    ? []
    : [
        warning(
          "ksef",
          `KSeF refuses the credentials of ${counts.refused} organizations, such as ${counts.refused_example}.`,
          `Run 'govoice ksef credential show --organization ${counts.refused_example}' for the reason.`
        )
      ]),
  ...(counts.expiring === 0
    ? []
    : [
        warning(
          "ksef",
          `The credentials of ${counts.expiring} organizations expire within 30 days, such as that of ${counts.expiring_example}.`,
          "Have their owners store new ones."
        )
      ]),
  ...(counts.tokens === 0
    ? []
    : [
        warning(
          "ksef",
          `${counts.tokens} organizations log in with tokens, which the rules provide for until ${tokensUntil}.`,
          "Have their owners store certificates. A certificate cannot be obtained with a token."
        )
      ]),
  ...(counts.refused + counts.expiring + counts.tokens === 0
    ? [ok("ksef", `${counts.all} credentials are stored`)]
    : [])
]

/** Checks what the database has about live mode. It is migrated. */
export const checkStored = (
  settings: SettingsShape
): Effect.Effect<ReadonlyArray<Finding>, SqlError.SqlError, SqlClient.SqlClient> =>
  Effect.gen(function* () {
    const { environmentId } = settings.ksef
    if (environmentId === undefined) return []
    const { environment, pending_for_a_day: late, unsent } = yield* LaneOverview.read
    const counts = yield* GatewayCredentials.count(environmentId)
    return [
      ...(environment === null || environment === environmentId
        ? []
        : [
            warning(
              "ksef",
              `The database belongs to the environment ${environment}, and the settings name ${environmentId}.${unsent > 0 ? " The server does not start while live invoices are unfinished." : ""}`,
              "Set GOVOICE_KSEF_ENVIRONMENT or GOVOICE_KSEF_URL back, or use another database."
            )
          ]),
      ...credentialFindings(counts),
      ...(late === 0
        ? []
        : [
            warning(
              "ksef",
              `${late} invoices were sent more than 24 hours ago and have no verdict.`,
              "Run 'govoice ksef status'. KSeF decides late at times; nothing is sent again meanwhile."
            )
          ])
    ]
  })
