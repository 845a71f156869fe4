/** A deployment with live mode against a simulator, in this process, and what tests of it need. */
import type { Ids } from "@govoice/core"
import { type Simulator, type SimulatorOptions, startSimulator } from "@govoice/ksef-simulator"
import { Environment, type KsefClient as Client } from "@govoice/ksef/client"
import { ContextIdentifier, PolishTime } from "@govoice/ksef/format"
import { Effect, Layer, Redacted, Result } from "effect"
import { SqlClient } from "effect/sql"
import { GatewayCredentials } from "../../src/invoices/ksef/GatewayCredentials.ts"
import * as KeyRing from "../../src/crypto/KeyRing.ts"
import * as NationalSystem from "../../src/invoices/ksef/NationalSystem.ts"
import * as LaneWorker from "../../src/invoices/ksef/LaneWorker.ts"
import { SubmitInvoice } from "../../src/invoices/SubmitInvoice.ts"
import * as Notifier from "../../src/jobs/Notifier.ts"
import * as Stores from "../../src/runtime/Stores.ts"
import { wakeLane } from "../../src/invoices/ksef/LaneQueue.ts"
import { realSleep } from "./FastClock.ts"
import { StatementTime } from "../../src/database/StatementTime.ts"
import { shownFailure } from "../../src/invoices/ksef/waitReason.sql.ts"
import * as fixtures from "./fixtures.ts"
import * as TestSettings from "./TestSettings.ts"
import { patienceMs } from "../../../../test/support/patienceMs.ts"

/** A simulator that ends with the scope. It answers at once. */
export const simulator = (options: SimulatorOptions = {}) =>
  Effect.acquireRelease(
    Effect.promise(() => startSimulator({ processingMs: 0, ...options })),
    (running) => Effect.promise(() => running.close())
  )

type KsefClient = Client.KsefClient

export const systemOf = (running: Simulator) => {
  const environment = Result.getOrThrow(Environment.at(running.url))
  return { environment, environmentId: environment.baseUrl }
}

/** A switch that ends the calls of a deployment, as the death of its process does. */
export interface Kill {
  isDead: boolean
}

interface DeploymentOptions {
  readonly kill?: Kill
  /** Whether it has workers, or only takes submissions. Defaults to true. */
  readonly hasWorker?: boolean
  readonly leaseMs?: number
  /** How often lanes are rescued. Simulated time advances no further than this at once. */
  readonly rescueMs?: number
  /** The name of its cell, the control cell. */
  readonly cell?: string
  /** How long a call takes before it arrives, in simulated time, or what decides it for each. */
  readonly latencyMs?: number | (() => number)
}

const isMethod = (member: unknown): member is (...args: ReadonlyArray<unknown>) => unknown =>
  typeof member === "function"

const gated = (
  client: KsefClient,
  gate: <A, E, R>(call: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
): KsefClient => {
  const wrap = <A>(value: A): A => (Effect.isEffect(value) ? (gate(value) as A) : value)
  const members = Object.entries(client).map(([name, member]: [string, unknown]) => [
    name,
    isMethod(member) ? (...args: ReadonlyArray<unknown>) => wrap(member(...args)) : wrap(member)
  ])
  return Object.fromEntries(members) as KsefClient
}

// The calls of the dead are never made, and what makes them ends.
const gatedSystem = ({ kill, latencyMs = 0 }: DeploymentOptions) =>
  Layer.effect(
    NationalSystem.NationalSystem,
    Effect.map(NationalSystem.NationalSystem, (system) => {
      if (system === undefined) return undefined
      const client = gated(system.client, (call) =>
        Effect.suspend(() =>
          Effect.delay(
            Effect.suspend(() => (kill?.isDead === true ? Effect.interrupt : call)),
            typeof latencyMs === "number" ? latencyMs : latencyMs()
          )
        )
      )
      return { ...system, client }
    })
  )

/**
 * Ends the deployment that holds the lanes as if its process were killed: nothing that it does from now on is written, its
 * leases run out, and its calls are not made.
 */
export const killHolder = (kill: Kill) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    kill.isDead = true
    yield* sql`UPDATE national_lanes SET fencing_token = fencing_token + 1 WHERE is_leased`
  })

/** Everything that takes a submission to its receipt. */
export const layer = (running: Simulator, options: DeploymentOptions = {}) => {
  const { environment, environmentId } = systemOf(running)
  const base = TestSettings.settings({
    leaseMs: options.leaseMs ?? 30_000,
    cell:
      options.cell === undefined
        ? undefined
        : { name: options.cell, controlDatabase: undefined, targetDatabase: undefined }
  })
  const system = NationalSystem.layerOf({ environment, environmentId, proxy: undefined })
  return (options.hasWorker === false ? Layer.empty : LaneWorker.layer).pipe(
    Layer.provideMerge(Stores.layer),
    Layer.provideMerge(Notifier.layer),
    Layer.provide([
      options.kill === undefined && options.latencyMs === undefined
        ? system
        : gatedSystem(options).pipe(Layer.provide(system)),
      Layer.succeed(LaneWorker.RescueInterval)(options.rescueMs ?? 500),
      Layer.succeed(KeyRing.KeyRing)(fixtures.keyRing),
      TestSettings.layer({ ...base, ksef: { ...base.ksef, environment, environmentId } })
    ])
  )
}

/** Runs a program with the deployment, which ends before it returns. */
export const withDeployment = <A, E, R>(
  running: Simulator,
  program: Effect.Effect<A, E, R>,
  options: DeploymentOptions = {}
) => Effect.scoped(Effect.provide(program, Layer.fresh(layer(running, options))))

/** Stores a credential for an organization, as its owner does. */
export const putCredential = Effect.fnUntraced(function* (
  organizationId: Ids.OrganizationId,
  context: string,
  credential: Parameters<GatewayCredentials["Service"]["put"]>[2]["credential"]
) {
  const sql = yield* SqlClient.SqlClient
  const credentials = yield* GatewayCredentials
  const [row] = yield* sql<{ readonly account_id: Ids.AccountId }>`
    SELECT account_id FROM organizations WHERE id = ${organizationId}
  `
  yield* credentials.put(row!.account_id, organizationId, {
    credential,
    context: ContextIdentifier.ofValue(context),
    expiresAt: undefined
  })
  yield* wakeLane(context)
  yield* (yield* Notifier.Notifier).wake("lanes")
})

export const token = (text: string) => ({ type: "ksef_token", token: Redacted.make(text) }) as const

/** The certificate of the simulator's first taxpayer. */
export const certificate = ({ certificate: pair }: Simulator) =>
  ({ type: "certificate", certificate: pair.certificate, privateKey: Redacted.make(pair.privateKey) }) as const

/** An organization with a token of the simulator's first taxpayer. */
export const taxpayer = Effect.fnUntraced(function* (running: Simulator) {
  const organizationId = yield* fixtures.organization
  yield* putCredential(organizationId, running.nip, token(running.token))
  return organizationId
})

/** A valid FA(3), issued today. */
export const fa3 = ({
  extra = "",
  number,
  seller
}: {
  readonly number: string
  readonly seller: string
  readonly extra?: string
}): string =>
  `<?xml version="1.0" encoding="UTF-8"?>
<Faktura xmlns="http://crd.gov.pl/wzor/2025/06/25/13775/"><Naglowek><KodFormularza kodSystemowy="FA (3)" wersjaSchemy="1-0E">FA</KodFormularza><WariantFormularza>3</WariantFormularza><DataWytworzeniaFa>2026-11-20T08:00:00Z</DataWytworzeniaFa></Naglowek><Podmiot1><DaneIdentyfikacyjne><NIP>${seller}</NIP><Nazwa>Seller</Nazwa></DaneIdentyfikacyjne><Adres><KodKraju>PL</KodKraju><AdresL1>ul. Testowa 1</AdresL1></Adres></Podmiot1><Podmiot2><DaneIdentyfikacyjne><NIP>5260250274</NIP><Nazwa>Buyer</Nazwa></DaneIdentyfikacyjne><JST>2</JST><GV>2</GV></Podmiot2><Fa><KodWaluty>PLN</KodWaluty><P_1>${PolishTime.day(Date.now())}</P_1><P_2>${number}</P_2><P_13_1>100.00</P_13_1><P_14_1>23.00</P_14_1><P_15>123.00</P_15><Adnotacje><P_16>2</P_16><P_17>2</P_17><P_18>2</P_18><P_18A>2</P_18A><Zwolnienie><P_19N>1</P_19N></Zwolnienie><NoweSrodkiTransportu><P_22N>1</P_22N></NoweSrodkiTransportu><P_23>2</P_23><PMarzy><P_PMarzyN>1</P_PMarzyN></PMarzy></Adnotacje><RodzajFaktury>VAT</RodzajFaktury><FaWiersz><NrWierszaFa>1</NrWierszaFa><P_7>Service</P_7><P_8A>szt.</P_8A><P_8B>1</P_8B><P_9A>100.00</P_9A><P_11>100.00</P_11><P_12>23</P_12></FaWiersz></Fa>${extra}</Faktura>
`

/** Submits an invoice in live mode, as the API does. */
export const submit = Effect.fnUntraced(function* (
  organizationId: Ids.OrganizationId,
  invoiceXml: string,
  key: string
) {
  const { submit: submitInvoice } = yield* SubmitInvoice
  const { invoiceId } = yield* submitInvoice(
    fixtures.submission({ organizationId, invoiceXml, idempotencyKey: key, mode: "live" })
  )
  yield* (yield* Notifier.Notifier).wake("lanes")
  return invoiceId
})

export interface LiveInvoice {
  readonly id: Ids.InvoiceId
  readonly status: string
  readonly official_number: string | null
  readonly upo_available: boolean
  readonly attempt_count: number
  readonly rejection: { readonly code: string; readonly message: string } | null
  readonly failure: { readonly code: string; readonly message: string } | null
}

/** The live invoices, with the failure that their records show. */
export const invoices = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const now = yield* (yield* StatementTime)(sql)
  return yield* sql<LiveInvoice>`
    SELECT id, status, official_number, upo_available, attempt_count, rejection, ${shownFailure(sql, now)} AS failure
    FROM invoices WHERE mode = 'live' ORDER BY id
  `
})

/** The types of the events of an invoice, in their order. */
export const events = (id: Ids.InvoiceId) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.map(sql<{ readonly type: string }>`SELECT type FROM events WHERE invoice_id = ${id} ORDER BY id`, (rows) =>
      rows.map(({ type }) => type)
    )
  )

/** Reads until the result is as expected, and returns it. */
export const poll = <A, E, R>(read: Effect.Effect<A, E, R>, check: (result: A) => boolean) =>
  Effect.gen(function* () {
    const startedAt = performance.now()
    while (true) {
      const result = yield* read
      if (check(result)) return result
      if (performance.now() - startedAt > patienceMs) {
        const shown = Array.isArray(result) ? result.slice(0, 5) : result
        throw new Error(`Waited in vain: ${JSON.stringify(shown)}`)
      }
      yield* realSleep(25)
    }
  })

/** Waits until all live invoices are as expected, and returns them. */
export const eventually = <E, R>(
  check: (all: ReadonlyArray<LiveInvoice>) => boolean,
  read: Effect.Effect<ReadonlyArray<LiveInvoice>, E, R>
) => poll(read, check)

/** Whether an invoice is final, with its receipt where it has one. */
export const isDone = ({ status, upo_available }: LiveInvoice): boolean =>
  status === "rejected" || status === "failed" || (status === "accepted" && upo_available)

export const allDone = (all: ReadonlyArray<LiveInvoice>): boolean => all.every(isDone)

/** Waits until all live invoices are final, and returns them. Counts those that are not until then: reading many takes longer. */
export const finished = () =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const open = sql<{ readonly n: number }>`
      SELECT count(*)::int AS n FROM invoices
      WHERE mode = 'live' AND status NOT IN ('rejected', 'failed') AND NOT (status = 'accepted' AND upo_available)
    `
    yield* poll(open, ([row]) => row?.n === 0)
    return yield* invoices
  })
