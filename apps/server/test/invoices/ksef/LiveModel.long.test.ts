/**
 * Random runs of live mode: submissions, faults of KSeF, and two workers that stop, are killed and start again. Every
 * document is accepted exactly once, every invoice is final, every event is there once, and no call is over a limit.
 *
 * `SEEDS` sets the number of runs, `FIRST_SEED` where they begin, and `SEED` repeats one of them.
 */
import { assert, layer } from "@effect/vitest"
import type { Fault } from "@govoice/ksef-simulator"
import { Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import * as fixtures from "../../support/fixtures.ts"
import * as live from "../../support/live.ts"
import * as simulated from "../../support/simulated.ts"
import { layerPostgres } from "../../support/TestDatabase.ts"

const one = process.env["SEED"]
const count = Number(process.env["SEEDS"] ?? 4)
const first = Number(process.env["FIRST_SEED"] ?? 1)
const seeds = one === undefined ? Array.from({ length: count }, (_, index) => index + first) : [Number(one)]

/** Numbers from 0 to 1 that the seed decides (mulberry32). */
const randomOf = (seed: number) => {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

const anywhere = ["drop-before", "drop-after", "5xx", "html"] as const
const specific: ReadonlyArray<Fault> = [
  { do: "21184" },
  { do: "session-gone" },
  { do: "rotate-keys", rotation: "emergency" },
  { do: "rotate-keys" },
  { do: "415-after-rotation" },
  { do: "stuck-150", polls: 3 },
  { do: "upo-late" },
  { do: "upo-html" },
  { do: "close-lost" },
  { do: "close-lost", committed: true },
  { do: "429", on: "sendInvoice", retryAfter: 20 },
  { do: "429", on: "getInvoice", retryAfter: 5 },
  { do: "expire-access", on: "*" },
  { do: "verdict", code: 500 },
  { do: "verdict", code: 435 },
  { do: "verdict", code: 550 },
  { do: "verdict", on: "session", code: 420 },
  { do: "verdict", on: "session", code: 500 },
  { do: "verdict", on: "login", code: 500 }
]

const drawFaults = (random: () => number): ReadonlyArray<Fault> => [
  ...anywhere.map((name): Fault => ({ do: name, on: "*", times: "always", probability: random() * 0.06 })),
  ...specific.filter(() => random() < 0.3).map((fault) => ({ ...fault, nth: 1 + Math.floor(random() * 4) }))
]

layer(layerPostgres, { timeout: "30 minutes", excludeTestServices: true })("live mode under random faults", (it) => {
  it.effect.each(seeds)("has every document accepted exactly once: seed %s", (seed) =>
    simulated.simulate({ seed: String(seed), grainMs: 1000 }, (simulation) =>
      Effect.gen(function* () {
        const { ksef } = simulation
        const sql = yield* SqlClient.SqlClient
        const random = randomOf(seed)
        const isByToken = random() < 0.5
        const documents = random() < 0.4 ? 40 : 3 + Math.floor(random() * 10)

        const deploy = <A, E, R>(program: Effect.Effect<A, E, R>, options: Parameters<typeof live.layer>[1] = {}) =>
          live.withDeployment(ksef, program, { rescueMs: 10_000, ...options })

        const organizationId = yield* deploy(
          Effect.gen(function* () {
            const id = yield* fixtures.organization
            const credential = isByToken ? live.token(ksef.token) : live.certificate(ksef)
            yield* live.putCredential(id, ksef.nip, credential)
            const state = sql<{ readonly s: string }>`SELECT credential_state AS s FROM organizations`
            yield* live.poll(state, ([row]) => row?.s === "accepted")
            return id
          })
        )
        for (const fault of drawFaults(random)) ksef.faults.add(fault)

        // Half of the lives end by a kill, whose leases have to run out.
        const lifetimes = () =>
          Array.from({ length: 1 + Math.floor(random() * 3) }, () => ({
            ms: 5000 + random() * 60_000,
            isKilled: random() < 0.5
          }))
        const worker = (lives: ReturnType<typeof lifetimes>) =>
          Effect.forEach(
            lives,
            ({ isKilled, ms }) => {
              const kill = { isDead: false }
              const life = simulated.passes(simulation, ms)
              return deploy(Effect.andThen(life, isKilled ? live.killHolder(kill) : Effect.void), { kill })
            },
            { discard: true }
          )
        const workers = Effect.all([worker(lifetimes()), worker(lifetimes())], { concurrency: 2, discard: true })
        // Receipts are in the session of the document. Where KSeF lost it, there is none.
        const lost = () => {
          const sessions = ksef.ledger
            .calls()
            .filter(({ fault }) => fault === "session-gone")
            .map(({ path }) => path)
          const isLost = (session: string) => sessions.some((path) => path.includes(session))
          return new Set(
            ksef.ledger
              .accepted()
              .filter(({ session }) => isLost(session))
              .map(({ ksefNumber }) => ksefNumber)
          )
        }
        const isDone = (invoice: live.LiveInvoice) =>
          live.isDone(invoice) || (invoice.status === "accepted" && lost().has(invoice.official_number ?? ""))

        yield* deploy(
          Effect.gen(function* () {
            const running = yield* Effect.forkChild(workers)
            yield* simulated.submitNumbers(organizationId, ksef.nip, 1, documents)
            yield* Fiber.join(running)
          }),
          { hasWorker: false }
        )
        // The random faults end, so that every invoice can become final.
        ksef.faults.clear()
        const all = yield* deploy(live.eventually((found) => found.every(isDone), live.invoices))

        assert.lengthOf(all, documents)
        assert.deepStrictEqual([...new Set(all.map(({ status }) => status))], ["accepted"])
        const accepted = ksef.ledger.accepted()
        assert.sameMembers(
          all.map(({ official_number: number }) => number),
          accepted.map(({ ksefNumber }) => ksefNumber)
        )
        assert.lengthOf(new Set(accepted.map(({ sha256 }) => sha256)), documents)
        assert.strictEqual(ksef.ledger.overLimit, 0)
        assert.lengthOf(yield* sql`SELECT 1 FROM national_submissions WHERE state IN ('sending', 'sent')`, 0)
        const events = yield* sql<{ readonly invoice_id: string; readonly type: string }>`
          SELECT invoice_id, type FROM events
        `
        const eventCount = documents * 3 + all.filter(({ upo_available: hasReceipt }) => hasReceipt).length
        assert.lengthOf(events, eventCount)
        assert.lengthOf(new Set(events.map(({ invoice_id: id, type }) => `${id} ${type}`)), eventCount)
      })
    )
  )
})
