/** `govoice ksef status`: the beacon, the lanes and what waits. */
import { Console, Effect } from "effect"
import * as LaneOverview from "../../invoices/live/LaneOverview.ts"
import * as deployment from "../deployment.ts"
import type { EnvironmentVariables } from "../../settings/EnvironmentVariables.ts"
import * as ksef from "./deployment.ts"
import type { OrganizationFlags } from "./flags.ts"

type Beacon = { readonly status: string; readonly messages: ReadonlyArray<string> } | undefined

// The beacon explains an outage, and decides nothing: it was down or wrong itself.
const readBeacon = (settings: Parameters<typeof ksef.withClient>[0]) =>
  ksef
    .withClient(settings, (client) => client.beacon)
    .pipe(
      Effect.map((beacon): Beacon =>
        beacon === undefined
          ? undefined
          : {
              status: beacon.status,
              messages: (beacon.messages ?? []).flatMap(({ text, title }) => title ?? text ?? [])
            }
      ),
      Effect.catchTag("KsefError", ({ message }) =>
        Effect.succeed<Beacon>({ status: `no answer (${message})`, messages: [] })
      )
    )

const since = (date: Date | null): string => (date === null ? "" : `, the oldest since ${date.toISOString()}`)

const lines = (environmentId: string, beacon: Beacon, overview: LaneOverview.LaneOverview): ReadonlyArray<string> => [
  `environment  ${environmentId}`,
  ...(overview.environment === null || overview.environment === environmentId
    ? []
    : [`database     belongs to the environment ${overview.environment}`]),
  `beacon       ${beacon?.status ?? "none in this environment"}`,
  ...(beacon?.messages ?? []).map((message) => `             ${message}`),
  `lanes        ${overview.lanes}, ${overview.leased} leased, ${overview.due} due`,
  ...overview.blocked.map(({ blocked, nip }) => `blocked      ${nip}: ${JSON.stringify(blocked)}`),
  `unsent       ${overview.unsent}${since(overview.oldest_unsent_at)}`,
  `pending      ${overview.pending}${since(overview.oldest_pending_at)}`
]

/** Prints the beacon, the lanes, and what waits. */
export const status = Effect.fnUntraced(function* (
  env: EnvironmentVariables,
  { json }: Pick<OrganizationFlags, "json">
) {
  const settings = yield* deployment.settings(env)
  yield* ksef.ksefEnvironmentOf(settings)
  const overview = yield* deployment.onMigrated(settings, LaneOverview.read)
  const beacon = yield* readBeacon(settings)
  const { environmentId = "" } = settings.ksef
  yield* Console.log(
    json
      ? JSON.stringify({ beacon: beacon ?? null, configured: environmentId, ...overview }, null, 2)
      : lines(environmentId, beacon, overview).join("\n")
  )
})
