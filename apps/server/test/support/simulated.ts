/** Live mode in simulated time: a deployment and a simulator share a clock that passes over waits. */
import { PgClient } from "@effect/sql-pg"
import type { Simulator, SimulatorOptions } from "@govoice/ksef-simulator"
import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as FastClock from "./FastClock.ts"
import * as fixtures from "./fixtures.ts"
import * as live from "./live.ts"
import { nipOf } from "./nips.ts"

export interface Simulation {
  readonly ksef: Simulator
  readonly now: () => number
}

/** Runs a program on an empty database, with a simulator of the same clock. Time advances in steps of `grainMs` at least. */
export const simulate = <A, E, R>(
  { grainMs = 0, ...options }: SimulatorOptions & { readonly grainMs?: number },
  program: (simulation: Simulation) => Effect.Effect<A, E, R>
) =>
  Effect.scoped(
    Effect.gen(function* () {
      const { client, clock, now } = yield* FastClock.make(grainMs)
      const running = Effect.gen(function* () {
        yield* fixtures.clear
        const ksef = yield* live.simulator({ now, ...options })
        return yield* program({ ksef, now })
      })
      return yield* running.pipe(
        Effect.provideService(Clock.Clock, clock),
        Effect.provideService(PgClient.PgClient, client)
      )
    })
  )

/** Waits until simulated time has passed. */
export const passes = ({ now }: Simulation, milliseconds: number) => {
  const until = now() + milliseconds
  return live.poll(Effect.sync(now), (at) => at >= until)
}

/** Forbids a group of calls of a context, as a window that never opens. */
export const withoutCalls = (context: string, group: "batchSession" | "invoiceSend") =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => {
    const blocked = JSON.stringify({ [group]: { until: 99_999_999_999_999, refusals: 0, halvedUntil: 0 } })
    return sql`
      INSERT INTO national_lanes (context, blocked) VALUES (${context}, ${blocked}::text::jsonb)
      ON CONFLICT (context) DO UPDATE SET blocked = national_lanes.blocked || excluded.blocked
    `
  })

/** Submits invoices with these numbers. */
export const submitNumbers = (
  organizationId: Parameters<typeof live.submit>[0],
  seller: string,
  from: number,
  count: number
) =>
  Effect.forEach(
    Array.from({ length: count }, (_, index) => from + index),
    (number) => live.submit(organizationId, live.fa3({ number: `FV/${number}`, seller }), `key-${number}`),
    { concurrency: 50 }
  )

/** Makes this many taxpayers, each with an organization and its token, and waits until all are logged in. */
export const taxpayers = Effect.fnUntraced(function* ({ ksef }: Simulation, count: number) {
  const sql = yield* SqlClient.SqlClient
  const owners = yield* Effect.forEach(
    Array.from({ length: count }, (_, index) => nipOf(index)),
    (nip) =>
      Effect.gen(function* () {
        const organizationId = yield* fixtures.organization
        yield* live.putCredential(organizationId, nip, live.token(ksef.issueToken({ context: nip })))
        return { nip, organizationId }
      })
  )
  const states = sql<{ readonly n: number }>`
    SELECT count(*)::int AS n FROM organizations WHERE credential_state = 'accepted'
  `
  yield* live.poll(states, ([row]) => row?.n === count)
  return owners
})
