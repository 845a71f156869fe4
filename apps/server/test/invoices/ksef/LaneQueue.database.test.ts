import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as LaneStore from "../../../src/invoices/ksef/LaneStore.ts"
import * as LaneQueue from "../../../src/invoices/ksef/LaneQueue.ts"
import { wakeLane } from "../../../src/invoices/ksef/LaneQueue.ts"
import * as fixtures from "../../support/fixtures.ts"
import { database } from "../../support/TestDatabase.ts"

const environmentId = "test"
const nip = "5265877635"
const leaseMs = 30_000

const laneRow = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.map(
    sql<{
      readonly is_leased: boolean
      readonly fencing_token: number
      readonly due_at: Date | null
    }>`SELECT is_leased, fencing_token, due_at FROM national_lanes WHERE context = ${nip}`,
    ([row]) => row
  )
)

/** An organization with a credential of the taxpayer, and a live invoice that waits. */
const waiting = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const organizationId = yield* fixtures.organization
  const id = yield* fixtures.invoice(organizationId)
  const now = new Date(yield* Clock.currentTimeMillis)
  yield* sql`
    UPDATE organizations SET credential = '\\x010000', credential_kind = 'ksef_token', credential_context = ${nip},
           credential_environment = ${environmentId}, credential_state = 'accepted', credential_updated_at = ${now}
  `
  yield* sql`
    UPDATE invoices SET mode = 'live', status = 'queued', due_at = ${now}, completed_at = NULL, official_number = NULL,
           scenario = NULL
  `
  return { organizationId, id }
})

type Advance = (milliseconds: number) => Effect.Effect<void>

/** Stops the clock of statements and of the code under test. Sleeps are real, as the connections of a pool need them. */
const stopClock = Effect.clockWith((clock) =>
  Effect.sync(() => {
    let time = clock.currentTimeMillisUnsafe()
    const now = () => time
    const nanos = () => BigInt(time) * 1_000_000n
    const stopped: Clock.Clock = {
      currentTimeMillisUnsafe: now,
      currentTimeMillis: Effect.sync(now),
      currentTimeNanosUnsafe: nanos,
      currentTimeNanos: Effect.sync(nanos),
      monotonicTimeNanosUnsafe: nanos,
      monotonicTimeNanos: Effect.sync(nanos),
      sleep: (duration) => clock.sleep(duration)
    }
    const advance = (milliseconds: number) =>
      Effect.sync(() => {
        time += milliseconds
      })
    return { stopped, advance }
  })
)

const services = LaneStore.layerOf(environmentId, 1000).pipe(
  Layer.provideMerge(LaneQueue.layerOf(environmentId)),
  Layer.provideMerge(database.layer)
)
layer(services, { timeout: "120 seconds", excludeTestServices: true })(`LaneQueue (${database.name})`, (it) => {
  const setUp = Effect.gen(function* () {
    yield* fixtures.clear
    yield* wakeLane(nip)
    const queue = yield* LaneQueue.LaneQueue
    return {
      queue,
      store: yield* LaneStore.LaneStore,
      claim: Effect.map(queue.claim({ limit: 10, limitOfOthers: 10, leaseMs, leased: [] }), ({ lanes }) => lanes)
    }
  })

  const withStoppedClock = <A, E, R>(program: (advance: Advance) => Effect.Effect<A, E, R>) =>
    Effect.flatMap(stopClock, ({ advance, stopped }) => Effect.provideService(program(advance), Clock.Clock, stopped))

  it.effect("gives a lane to one holder until its lease expires", () =>
    withStoppedClock((advance) =>
      Effect.gen(function* () {
        const { claim, queue } = yield* setUp
        const [first] = yield* claim
        assert.deepInclude(first, { context: nip, isReclaimed: false })
        assert.lengthOf(yield* claim, 0)
        yield* advance(leaseMs - 1)
        assert.deepStrictEqual([...(yield* queue.renew([first!], leaseMs)).renewed], [nip])
        yield* advance(leaseMs - 1)
        assert.lengthOf(yield* claim, 0, "the renewal extends the lease")
        yield* advance(1)
        const [second] = yield* claim
        assert.isTrue(second!.isReclaimed)
        assert.isAbove(second!.fencingToken, first!.fencingToken)
        const { locked, renewed } = yield* queue.renew([first!], leaseMs)
        assert.deepStrictEqual([...renewed, ...locked], [])
      })
    )
  )

  it.effect("has accounts take turns for lanes without an accepted credential", () =>
    Effect.gen(function* () {
      const { queue } = yield* setUp
      const sql = yield* SqlClient.SqlClient
      yield* sql`DELETE FROM national_lanes`
      const many = yield* fixtures.organization
      const one = yield* fixtures.organization
      // The other account has its 30 lanes in more than one organization, all of them due for longer.
      yield* sql`
        INSERT INTO organizations
          (id, account_id, created_at, name, credential, credential_kind, credential_context, credential_environment,
           credential_state, credential_updated_at)
        SELECT id || number, account_id, now(), 'Another', '\\x010000', 'ksef_token', 5200000000 + number, ${environmentId},
               'unchecked', now()
        FROM organizations CROSS JOIN generate_series(1, 30) AS number WHERE id = ${many}
      `
      yield* sql`
        UPDATE organizations SET credential = '\\x010000', credential_kind = 'ksef_token', credential_context = ${nip},
               credential_environment = ${environmentId}, credential_state = 'unchecked', credential_updated_at = now()
        WHERE id = ${one}
      `
      yield* sql`
        INSERT INTO national_lanes (context, due_at)
        SELECT credential_context, now() - interval '1 minute' FROM organizations WHERE credential_context LIKE '52000%'
        UNION ALL SELECT ${nip}, now() - interval '1 second'
      `
      const { lanes } = yield* queue.claim({ limit: 10, limitOfOthers: 2, leaseMs, leased: [] })
      assert.lengthOf(lanes, 2)
      assert.include(
        lanes.map(({ context }) => context),
        nip
      )
    })
  )

  it.effect("names the leased lanes that have invoices to send or a credential to check", () =>
    withStoppedClock(() =>
      Effect.gen(function* () {
        const { claim, queue } = yield* setUp
        const sql = yield* SqlClient.SqlClient
        yield* claim
        const claimAgain = queue.claim({ limit: 10, limitOfOthers: 10, leaseMs, leased: [nip, "1111111111"] })
        assert.deepStrictEqual(yield* claimAgain, { lanes: [], withInvoices: [], withCredential: [] })
        yield* waiting
        assert.deepStrictEqual(yield* claimAgain, { lanes: [], withInvoices: [nip], withCredential: [] })
        yield* sql`UPDATE organizations SET credential_state = 'unchecked'`
        assert.deepStrictEqual(yield* claimAgain, { lanes: [], withInvoices: [], withCredential: [nip] })
        yield* sql`UPDATE organizations SET credential_environment = 'another'`
        assert.deepStrictEqual(yield* claimAgain, { lanes: [], withInvoices: [], withCredential: [] })
      })
    )
  )

  it.effect("refuses every write of a holder whose lease was lost", () =>
    withStoppedClock((advance) =>
      Effect.gen(function* () {
        const { claim, queue, store } = yield* setUp
        const { id, organizationId } = yield* waiting
        const [late] = yield* claim
        const session = yield* store.beginSession(late!, organizationId, "online")
        const sending = yield* store.beginSubmission(late!, session, id, new Date())
        assert.strictEqual(sending?.status, "submitting")
        yield* advance(leaseMs)
        const [holder] = yield* claim

        const isLost = (write: Effect.Effect<unknown, unknown>) =>
          Effect.map(Effect.flip(write), (error) => assert.instanceOf(error, LaneQueue.LaneLost))
        yield* isLost(store.beginSession(late!, organizationId, "online"))
        yield* isLost(store.beginBatch(late!, session, [id]))
        yield* isLost(store.beginSubmission(late!, session, id, new Date()))
        yield* isLost(
          store.write(late!, {
            sessions: [{ id: session, state: "done", dueAt: null }],
            submissions: [{ id: sending!.submission_id, state: "absent", dueAt: null }]
          })
        )
        yield* queue.release(late!, { nextAt: Infinity, idle: [organizationId] }, 0)
        assert.deepInclude(yield* laneRow, { is_leased: true, fencing_token: holder!.fencingToken })
        const sql = yield* SqlClient.SqlClient
        assert.deepStrictEqual(yield* sql`SELECT state FROM national_sessions`, [{ state: "opening" }])
        assert.deepStrictEqual(yield* sql`SELECT state FROM national_submissions`, [{ state: "sending" }])

        // The next holder cannot send it either, until the outcome is known.
        assert.lengthOf(yield* store.beginBatch(holder!, session, [id]), 0)
        assert.isUndefined(yield* store.beginSubmission(holder!, session, id, new Date()))
        yield* store.write(holder!, { submissions: [{ id: sending!.submission_id, state: "absent", dueAt: null }] })
      })
    )
  )

  it.effect("plans no resend of a document while its organization has no credential", () =>
    withStoppedClock(() =>
      Effect.gen(function* () {
        const { claim, store } = yield* setUp
        const { id, organizationId } = yield* waiting
        const sql = yield* SqlClient.SqlClient
        const [lane] = yield* claim
        const session = yield* store.beginSession(lane!, organizationId, "online")
        const sending = yield* store.beginSubmission(lane!, session, id, new Date())
        const dueAt = new Date(yield* Clock.currentTimeMillis)
        yield* store.write(lane!, { submissions: [{ id: sending!.submission_id, state: "refused", dueAt }] })
        yield* sql`UPDATE invoices SET status = 'submitted'`
        assert.strictEqual(yield* store.nextWaitingAt(nip, [organizationId]), dueAt.getTime())
        yield* sql`UPDATE organizations SET credential_environment = 'another'`
        assert.strictEqual(yield* store.nextWaitingAt(nip, [organizationId]), Infinity)
      })
    )
  )

  it.effect("counts one call more for each group after an expired lease, and keeps the windows", () =>
    withStoppedClock((advance) =>
      Effect.gen(function* () {
        const { claim } = yield* setUp
        const now = yield* Clock.currentTimeMillis
        const [first] = yield* claim
        for (let call = 0; call < 29; call++) {
          first!.windows.begin("invoiceSend")
          first!.windows.end("invoiceSend", now, true)
        }
        const store = yield* LaneStore.LaneStore
        yield* store.write(first!, {})
        yield* advance(leaseMs)
        const [second] = yield* claim
        assert.strictEqual(second!.windows.capacity("invoiceSend", now + leaseMs, 1), 0)
      })
    )
  )

  it.effect("lets a holder write nothing whose claim was lost by a fail-over, once the lane has another holder", () =>
    withStoppedClock((advance) =>
      Effect.gen(function* () {
        const { claim, queue, store } = yield* setUp
        const sql = yield* SqlClient.SqlClient
        const before = yield* laneRow
        const [lost] = yield* claim
        yield* store.write(lost!, {})
        // As on a replica that is promoted and has not received the claim.
        yield* sql`UPDATE national_lanes SET ${sql.update(before!)}`
        yield* advance(1500)
        const [holder] = yield* claim
        assert.instanceOf(yield* Effect.flip(store.write(lost!, {})), LaneQueue.LaneLost)
        assert.deepStrictEqual([...(yield* queue.renew([lost!, holder!], leaseMs)).renewed], [nip])
        yield* queue.release(lost!, { nextAt: Infinity }, 0)
        yield* store.write(holder!, {})
      })
    )
  )

  it.effect("rescues a lane that has work and is neither due nor leased", () =>
    withStoppedClock(() =>
      Effect.gen(function* () {
        const { claim, queue } = yield* setUp
        yield* waiting
        const [lane] = yield* claim
        yield* queue.rescue
        assert.deepInclude(yield* laneRow, { is_leased: true, fencing_token: lane!.fencingToken })
        yield* queue.release(lane!, { nextAt: Infinity }, 0)
        assert.isNull((yield* laneRow)?.due_at)
        assert.lengthOf(yield* claim, 0)
        yield* queue.rescue
        assert.lengthOf(yield* claim, 1)
      })
    )
  )

  it.effect("makes a released lane due at once if a credential was stored that its holder has not read", () =>
    withStoppedClock(() =>
      Effect.gen(function* () {
        const { claim, queue } = yield* setUp
        const sql = yield* SqlClient.SqlClient
        yield* waiting
        const stored = (state: string) => sql<{ readonly id: string; readonly credential_updated_at: Date }>`
            UPDATE organizations SET credential_state = ${state},
                   credential_updated_at = credential_updated_at + interval '1 millisecond'
            RETURNING id, credential_updated_at
          `
        const releases = (credentials: ReadonlyArray<{ readonly id: string; readonly credential_updated_at: Date }>) =>
          Effect.gen(function* () {
            yield* wakeLane(nip)
            const [lane] = yield* claim
            yield* queue.release(lane!, { nextAt: Infinity, credentials }, 0)
            return yield* claim
          })

        const refused = yield* stored("refused")
        assert.lengthOf(yield* releases(refused), 0)
        const another = yield* stored("unchecked")
        const [again] = yield* releases(refused)
        assert.isDefined(again)
        yield* queue.release(again!, { nextAt: Infinity, credentials: another }, 0)
        assert.lengthOf(yield* claim, 0, "its holder waits until it checks it again")
        const [unread] = yield* releases([])
        assert.isDefined(unread)
      })
    )
  )

  it.effect("makes a released lane due at once if an invoice arrived after its holder had found none", () =>
    withStoppedClock(() =>
      Effect.gen(function* () {
        const { claim, queue } = yield* setUp
        const [lane] = yield* claim
        // Of one that its holder has not served, it is expected.
        const { organizationId: idle } = yield* waiting
        yield* queue.release(lane!, { nextAt: Infinity, idle: [yield* fixtures.organization] }, 0)
        assert.lengthOf(yield* claim, 0)
        yield* wakeLane(nip)
        const [again] = yield* claim
        yield* queue.release(again!, { nextAt: Infinity, idle: [idle] }, 0)
        assert.lengthOf(yield* claim, 1)
      })
    )
  )
})
