import { once } from "node:events"
import { type AddressInfo, createServer, type Socket } from "node:net"
import { assert, describe, layer } from "@effect/vitest"
import type { Ids } from "@govoice/core"
import { Clock, Effect, Layer, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { openMailbox, type Mailbox } from "../../../../test/support/mailbox.ts"
import * as Organizations from "../../src/accounts/Organizations.ts"
import * as KeyRing from "../../src/crypto/KeyRing.ts"
import * as DeliveryQueue from "../../src/deliveries/DeliveryQueue.ts"
import * as WebhookEndpoints from "../../src/deliveries/WebhookEndpoints.ts"
import * as NoticeJob from "../../src/mail/NoticeJob.ts"
import * as Notices from "../../src/mail/Notices.ts"
import type { SettingsShape } from "../../src/settings/Settings.ts"
import * as fixtures from "../support/fixtures.ts"
import { poll } from "../support/live.ts"
import { database } from "../support/TestDatabase.ts"
import * as TestSettings from "../support/TestSettings.ts"

const start = Date.parse("2026-11-20T10:00:00.000Z")
const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

const settingsWith = (mailbox: Mailbox | undefined, changes: Partial<SettingsShape> = {}) => {
  const settings = TestSettings.settings()
  return TestSettings.layer({
    ...settings,
    ksef: { ...settings.ksef, environmentId: "test" },
    mail:
      mailbox === undefined
        ? undefined
        : {
            smtpUrl: mailbox.settings["GOVOICE_SMTP_URL"]!,
            from: "govoice@example.com",
            publicUrl: "https://govoice.example.com"
          },
    ...changes
  })
}

const mailbox = Effect.acquireRelease(
  Effect.promise(() => openMailbox()),
  (opened) => Effect.promise(() => opened.close())
)

/** An SMTP server that accepts connections and says nothing. */
const silentServer = Effect.acquireRelease(
  Effect.promise(async () => {
    const sockets = new Set<Socket>()
    const server = createServer((socket) => void sockets.add(socket)).listen(0, "127.0.0.1")
    await once(server, "listening")
    return { server, sockets }
  }),
  ({ server, sockets }) =>
    Effect.sync(() => {
      for (const socket of sockets) socket.destroy()
      server.close()
    })
).pipe(
  Effect.map(({ server, sockets }) => ({
    url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connections: () => sockets.size
  }))
)

/** An organization with an endpoint whose attempts a test completes, a process that sends mails, and what the owner received. */
const setUp = Effect.fnUntraced(function* (changes: Partial<SettingsShape> = {}) {
  yield* fixtures.clear
  yield* TestClock.setTime(start)
  const box = yield* mailbox
  const settings = settingsWith(box, changes)
  const services = Layer.mergeAll(Notices.layer, DeliveryQueue.layer, WebhookEndpoints.layer).pipe(
    Layer.provide(Organizations.layer),
    Layer.provideMerge(Layer.mergeAll(settings, Layer.succeed(KeyRing.KeyRing)(fixtures.keyRing)))
  )
  const context = yield* Layer.build(Layer.fresh(services))
  const makeRound = Effect.map(NoticeJob.makeSteps, ({ disable, sendDue }) => Effect.andThen(disable, sendDue))
  const round = yield* Effect.provide(makeRound, context)
  const another = yield* Effect.provide(makeRound, context)
  const queue = yield* Effect.provide(DeliveryQueue.DeliveryQueue, context)
  const endpoints = yield* Effect.provide(WebhookEndpoints.WebhookEndpoints, context)
  const notices = yield* Effect.provide(Notices.Notices, context)
  const { endpoints: ids, id } = yield* fixtures.backlog(40)
  const sql = yield* SqlClient.SqlClient
  const [owner] = yield* sql<{ readonly id: Ids.AccountId; readonly email: string }>`
    SELECT accounts.id, email FROM accounts JOIN organizations ON account_id = accounts.id
    WHERE organizations.id = ${id}
  `
  const attempt = Effect.fnUntraced(function* (...works: ReadonlyArray<boolean>) {
    const { deliveries } = yield* queue.claim({ limit: works.length, perOrganization: 10, leaseMs: 30_000 })
    const at = new Date(yield* Clock.currentTimeMillis).toISOString()
    yield* queue.complete(
      deliveries.map((one, index) =>
        fixtures.completion(one, {
          updated_at: at,
          ...(works[index] === true
            ? {}
            : { status: "failed", last_http_status: 503, last_error_summary: "The endpoint returned HTTP 503." })
        })
      )
    )
  })
  return {
    attempt,
    another,
    job: Effect.provide(Layer.launch(NoticeJob.layer), context),
    box,
    endpoint: ids[0]!,
    endpoints,
    kinds: Effect.map(notices.standing(), (standing) => standing.map(({ kind }) => kind)),
    organization: id,
    owner: owner!,
    round,
    sql,
    subjects: () => box.mails.map(({ text }) => /^Subject: (.*)\r$/m.exec(text)?.[1])
  }
})

// The clock of the tests is not that of the connections: they would see decades pass.
layer(database.layer, { timeout: "120 seconds", excludeTestServices: true })(`notices (${database.name})`, (it) => {
  const test = (name: string, body: Effect.Effect<void, unknown, Scope.Scope | SqlClient.SqlClient>) =>
    it.effect(name, () => Effect.provide(Effect.scoped(body), TestClock.layer()))

  test(
    "are told by the cell that serves the organization, also while another has its rows",
    Effect.gen(function* () {
      const { attempt, organization, round, sql, subjects } = yield* setUp({
        cell: { name: "a", controlDatabase: undefined, targetDatabase: undefined }
      })
      const serve = (cell: string) =>
        sql`UPDATE cell_buckets SET cell = ${cell} WHERE bucket = ${organization.slice(14, 16)}`
      yield* sql`DELETE FROM cell_buckets`
      yield* sql`DELETE FROM cells`
      yield* sql`INSERT INTO cells (name, is_control, url) VALUES ('a', true, 'http://a'), ('b', false, 'http://b')`
      yield* sql`INSERT INTO cell_buckets (bucket, cell) VALUES (${organization.slice(14, 16)}, 'b')`
      yield* attempt(false)
      yield* TestClock.adjust(7 * hour)
      yield* round
      assert.isEmpty(subjects())
      yield* serve("a")
      yield* round
      assert.lengthOf(subjects(), 1)
    })
  )

  describe("an endpoint that fails", () => {
    test(
      "is told once after six hours, and once when it works again",
      Effect.gen(function* () {
        const { attempt, box, endpoint, kinds, organization, owner, round, subjects } = yield* setUp()
        yield* attempt(false)
        yield* TestClock.adjust(6 * hour - 1)
        yield* round
        assert.deepStrictEqual([yield* kinds, subjects()], [[], []])

        yield* TestClock.adjust(1)
        yield* attempt(false)
        yield* round
        yield* round
        assert.deepStrictEqual(yield* kinds, ["endpoint_failing"])
        assert.deepStrictEqual(subjects(), ["Webhooks to example.com are failing"])
        assert.deepStrictEqual(box.mails[0]!.to, [owner.email])
        assert.include(
          box.mails[0]!.text,
          `https://govoice.example.com/console/o/${organization}/endpoints/${endpoint}`
        )

        yield* TestClock.adjust(hour)
        yield* attempt(true)
        yield* round
        yield* round
        assert.deepStrictEqual(yield* kinds, [])
        assert.deepStrictEqual(subjects().slice(1), ["Webhooks to example.com succeed again"])
      })
    )

    test(
      "is not one that succeeds now and then, in whatever order",
      Effect.gen(function* () {
        const { attempt, kinds, round, subjects } = yield* setUp()
        yield* attempt(false)
        yield* TestClock.adjust(5 * hour)
        yield* attempt(true, false)
        yield* TestClock.adjust(6 * hour)
        yield* round
        assert.deepStrictEqual([yield* kinds, subjects()], [[], []])
      })
    )

    test(
      "is switched off after five days, told why, and begins anew when its owner switches it on",
      Effect.gen(function* () {
        const { attempt, endpoint, endpoints, kinds, owner, round, subjects } = yield* setUp()
        yield* attempt(false)
        yield* TestClock.adjust(5 * day - 1)
        yield* attempt(false)
        yield* round
        assert.isTrue((yield* endpoints.find(owner.id, endpoint)).enabled)

        // Nothing was sent since: the endpoint may work by now.
        yield* TestClock.adjust(day)
        yield* round
        assert.isTrue((yield* endpoints.find(owner.id, endpoint)).enabled)

        yield* attempt(false)
        yield* round
        yield* round
        assert.deepInclude(yield* endpoints.find(owner.id, endpoint), {
          enabled: false,
          disabled_reason: "failing",
          failing_since: new Date(start).toISOString()
        })
        assert.deepStrictEqual(yield* kinds, ["endpoint_disabled"])
        assert.deepStrictEqual(subjects(), [
          "Webhooks to example.com are failing",
          "Endpoint example.com was switched off"
        ])

        const on = yield* endpoints.update(owner.id, endpoint, { enabled: true })
        assert.deepInclude(on, { enabled: true, disabled_reason: null, failing_since: null })
        yield* attempt(false)
        yield* round
        assert.deepStrictEqual([yield* kinds, subjects().length], [[], 2])
        yield* TestClock.adjust(6 * hour)
        yield* round
        assert.deepStrictEqual(subjects().slice(2), ["Webhooks to example.com are failing"])
      })
    )

    test(
      "is switched off while mails wait for an SMTP server that does not answer",
      Effect.gen(function* () {
        const smtp = yield* silentServer
        const { attempt, endpoint, endpoints, job, owner, sql } = yield* setUp({
          mail: { smtpUrl: smtp.url, from: "govoice@example.com", publicUrl: "https://govoice.example.com" }
        })
        const others = yield* fixtures.backlog(0)
        yield* sql`UPDATE webhook_endpoints SET failing_since = ${new Date(start)}, failed_at = ${new Date(start)} WHERE id = ${others.endpoints[0]!}`
        yield* attempt(false)
        yield* TestClock.adjust(5 * day - 1)
        yield* Effect.forkScoped(job)
        yield* poll(Effect.sync(smtp.connections), (count) => count === 1)
        yield* TestClock.adjust(1)
        yield* attempt(false)
        // The first mail ends after 30 s, and the second one lasts longer than the minute.
        yield* TestClock.adjust(minute - 1000)
        yield* poll(Effect.sync(smtp.connections), (count) => count === 2)
        yield* TestClock.adjust(1000)
        yield* poll(endpoints.find(owner.id, endpoint), ({ enabled }) => !enabled)
      })
    )

    test(
      "stays on where the setting is 0, and where its owner switched it off keeps no reason",
      Effect.gen(function* () {
        const { webhooks } = TestSettings.settings()
        const { attempt, endpoint, endpoints, kinds, owner, round } = yield* setUp({
          webhooks: { ...webhooks, disableAfterDays: null }
        })
        yield* attempt(false)
        yield* TestClock.adjust(30 * day)
        yield* attempt(false)
        yield* round
        assert.deepInclude(yield* endpoints.find(owner.id, endpoint), { enabled: true, disabled_reason: null })
        const off = yield* endpoints.update(owner.id, endpoint, { enabled: false })
        assert.deepInclude(off, { enabled: false, disabled_reason: null, failing_since: null })
        yield* round
        assert.deepStrictEqual(yield* kinds, [])
      })
    )
  })

  describe("a mail", () => {
    test(
      "is sent by one of many processes",
      Effect.gen(function* () {
        const { another, attempt, round, subjects } = yield* setUp()
        yield* attempt(false)
        yield* TestClock.adjust(6 * hour)
        yield* Effect.all([round, another, round, another], { concurrency: "unbounded" })
        assert.strictEqual(subjects().length, 1)
      })
    )

    test(
      "that could not be sent is sent again",
      Effect.gen(function* () {
        const { attempt, box, round, subjects } = yield* setUp()
        yield* attempt(false)
        yield* TestClock.adjust(6 * hour)
        box.refuse = true
        yield* round
        box.refuse = false
        yield* TestClock.adjust(15 * minute - 1)
        yield* round
        assert.deepStrictEqual(subjects(), [])
        yield* TestClock.adjust(1)
        yield* round
        assert.strictEqual(subjects().length, 1)
      })
    )

    test(
      "is the only one in 15 minutes",
      Effect.gen(function* () {
        const { attempt, organization, round, sql, subjects } = yield* setUp()
        yield* attempt(false)
        yield* TestClock.adjust(6 * hour)
        yield* round
        // Stored with microseconds.
        yield* sql`
            INSERT INTO offline_certificates (id, updated_at, valid_from, valid_until, environment, serial_number, subject, private_key)
            VALUES (${organization}, '2026-11-20 10:00:00.000123+00', ${new Date(start)}, ${new Date(start + 9 * day)}, 'test', '01', 'CN=a', '\\x0102')
          `
        yield* TestClock.adjust(15 * minute - 1)
        yield* round
        assert.strictEqual(subjects().length, 1)
        yield* TestClock.adjust(1)
        yield* round
        yield* TestClock.adjust(hour)
        yield* round
        assert.strictEqual(subjects().length, 2)
      })
    )

    test(
      "has everything that the owner was not told, in the language of the account",
      Effect.gen(function* () {
        const { attempt, box, organization, round, sql } = yield* setUp()
        yield* sql`UPDATE accounts SET language = 'pl'`
        yield* attempt(false)
        yield* TestClock.adjust(6 * hour)
        yield* sql`
              INSERT INTO offline_certificates (id, updated_at, valid_from, valid_until, environment, serial_number, subject, private_key)
              VALUES (${organization}, ${new Date(start)}, ${new Date(start)}, ${new Date(start + 6 * day)}, 'test', '01', 'CN=a', '\\x0102')
            `
        yield* round
        assert.strictEqual(box.mails.length, 1)
        const { text } = box.mails[0]!
        assert.include(text, "Powiadomienia z Govoice: 2")
        assert.include(text, "żaden webhook organizacji Company nie dotarł na example.com")
        assert.include(text, "traci ważność 26 listopada 2026")
      })
    )
  })

  describe("what expires", () => {
    const credential = Effect.fnUntraced(function* (organization: string, kind: string, until: number | null) {
      const sql = yield* SqlClient.SqlClient
      yield* sql`
          UPDATE organizations SET credential = '\\x0102', credential_kind = ${kind}, credential_context = '5265877635',
            credential_environment = 'test', credential_state = 'accepted', credential_updated_at = ${new Date(start)},
            credential_expires_at = ${until === null ? null : new Date(until)}::timestamptz
          WHERE id = ${organization}
        `
    })

    test(
      "is told 30, 7 and 1 days ahead, once each",
      Effect.gen(function* () {
        const { kinds, organization, round, subjects } = yield* setUp()
        const until = start + 40 * day
        yield* credential(organization, "certificate", until)
        for (const [before, mails] of [
          [30 * day + 1, 0],
          [30 * day, 1],
          [7 * day + 1, 1],
          [7 * day, 2],
          [day + 1, 2],
          [day, 3],
          [-day, 3]
        ] as const) {
          yield* TestClock.setTime(until - before)
          yield* round
          yield* round
          assert.strictEqual(subjects().length, mails, `${before / day} days before`)
        }
        assert.deepStrictEqual(yield* kinds, ["credential_expiring"])
      })
    )

    test(
      "is a login by token, from the first of December in Poland",
      Effect.gen(function* () {
        const { box, kinds, organization, round, subjects } = yield* setUp()
        yield* credential(organization, "ksef_token", null)
        yield* TestClock.setTime(Date.parse("2026-11-30T22:59:59.999Z"))
        yield* round
        assert.deepStrictEqual(subjects(), [])
        yield* TestClock.adjust(1)
        yield* round
        yield* round
        assert.deepStrictEqual(yield* kinds, ["token_login_ending"])
        assert.deepStrictEqual(subjects(), ["Company needs a KSeF certificate"])
        assert.include(box.mails[0]!.text, "31 December 2026")
      })
    )

    test(
      "is no credential of another environment",
      Effect.gen(function* () {
        const { kinds, organization, sql } = yield* setUp()
        yield* credential(organization, "certificate", start)
        assert.deepStrictEqual(yield* kinds, ["credential_expiring"])
        yield* sql`UPDATE organizations SET credential_environment = 'demo'`
        assert.deepStrictEqual(yield* kinds, [])
      })
    )
  })
})
