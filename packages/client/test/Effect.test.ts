/** The Effect API: error channel, defects and interruption. */
import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import * as Option from "effect/Option"
import * as EffectEntry from "../src/effect.ts"
import { createClient, createControlPlane, createSession, getInvoice, listInvoices } from "../src/effect.ts"
import * as RootEntry from "../src/index.ts"
import { id, json, problem, record, stub } from "./support/stub.ts"

const baseUrl = "https://api.example.com"
const options = { apiKey: "sk_test_secret", baseUrl }

describe("createClient of /effect", () => {
  it.effect("succeeds with the results of the root entry", () =>
    Effect.gen(function* () {
      const client = createClient({ ...options, fetch: stub(() => json(record)).fetch })
      assert.strictEqual((yield* client.invoices.get(id)).id, id)
      assert.strictEqual((yield* getInvoice(client, id)).status, "queued")
      const submitted = yield* client.invoices.submit({ invoiceXml: "<a/>" }, { idempotencyKey: "a" })
      assert.strictEqual(submitted.idempotencyKey, "a")
    })
  )

  it.effect("sends a request for each run, not before", () =>
    Effect.gen(function* () {
      const { fetch, requests } = stub(() => json(record))
      const get = createClient({ ...options, fetch }).invoices.get(id)
      assert.isEmpty(requests)
      yield* get
      yield* get
      assert.strictEqual(requests.length, 2)
    })
  )

  it.effect("fails with API errors and connection errors in the error channel", () =>
    Effect.gen(function* () {
      const client = createClient({ ...options, fetch: stub(() => problem(404, "invoice_not_found")).fetch })
      const code = yield* client.invoices.get(id).pipe(
        Effect.map(() => "found"),
        Effect.catchTag("ApiError", ({ code }) => Effect.succeed(code))
      )
      assert.strictEqual(code, "invoice_not_found")
    })
  )

  it.effect("dies of programming errors", () =>
    Effect.gen(function* () {
      const client = createClient({ ...options, fetch: stub(() => json(record)).fetch })
      const exit = yield* Effect.exit(client.invoices.submit({ invoiceXml: "<a/>" }, { idempotencyKey: "\n" }))
      assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
    })
  )

  it.live("aborts the request on interruption", () =>
    Effect.gen(function* () {
      const { fetch, requests } = stub(() => new Promise<Response>(() => {}))
      const fiber = yield* Effect.forkChild(createClient({ ...options, fetch }).invoices.get(id))
      while (requests.length === 0) yield* Effect.sleep(5)
      assert.isFalse(requests[0]!.signal.aborted)
      yield* Fiber.interrupt(fiber)
      assert.isTrue(requests[0]!.signal.aborted)
      assert.strictEqual(requests.length, 1)
    })
  )

  it.live("stops polling on interruption", () =>
    Effect.gen(function* () {
      const { fetch, requests } = stub(() => json(record))
      const waiting = createClient({ ...options, fetch }).invoices.waitUntilFinal(id)
      assert.isTrue(Option.isNone(yield* Effect.timeoutOption(waiting, 50)))
      const before = requests.length
      yield* Effect.sleep(600)
      assert.strictEqual(requests.length, before)
    })
  )
})

describe("createControlPlane of /effect", () => {
  const page = (data: ReadonlyArray<unknown>, nextCursor: string | null) =>
    json({ object: "list", data, has_more: nextCursor !== null, next_cursor: nextCursor })

  it.effect("logs in, and returns lists page by page", () =>
    Effect.gen(function* () {
      const { fetch, requests } = stub(({ url }) =>
        url.endsWith("/login")
          ? json({
              access_token: "aaa",
              token_type: "Bearer",
              expires_in: 1,
              refresh_token: "r",
              refresh_expires_in: 1
            })
          : url.endsWith("/logout")
            ? new Response(null, { status: 204 })
            : page([record], url.includes("cursor=b") ? null : "b")
      )
      const controlPlane = createControlPlane({ baseUrl, fetch })
      yield* controlPlane.login({ email: "a@example.com", password: "p" })
      const first = yield* controlPlane.invoices.list("org_1", { limit: 1, status: "queued" })
      assert.strictEqual(first.nextCursor, "b")
      const second = yield* controlPlane.invoices.list("org_1", { limit: 1, status: "queued", cursor: "b" })
      assert.strictEqual(second.hasMore, false)
      yield* controlPlane.logout()
      assert.deepStrictEqual(
        requests.slice(1, 3).map(({ headers, url }) => [url.replace(/^.*invoices/, ""), headers["authorization"]]),
        [
          ["?limit=1&status=queued", "Bearer aaa"],
          ["?limit=1&status=queued&cursor=b", "Bearer aaa"]
        ]
      )
    })
  )

  it.effect("returns pages that Stream.paginate reads to the last", () =>
    Effect.gen(function* () {
      const { fetch } = stub(({ url }) => page([record, record], url.includes("cursor=b") ? null : "b"))
      const session = createSession({ baseUrl, fetch })
      const stream = Stream.paginate(undefined as string | undefined, (cursor) =>
        Effect.map(
          listInvoices(session, "org_1", { cursor }),
          ({ data, nextCursor }) => [data, Option.fromNullOr(nextCursor)] as const
        )
      )
      assert.strictEqual((yield* Stream.runCollect(stream)).length, 4)
    })
  )
})

describe("the entry /effect", () => {
  it("exports what the root entry exports", () => {
    assert.deepStrictEqual(Object.keys(EffectEntry).sort(), Object.keys(RootEntry).sort())
  })

  const control = "https://api.example.com/v1/control-plane/"
  const calls: ReadonlyArray<
    readonly [operation: unknown, name: string, args: ReadonlyArray<unknown>, method: string, path: string]
  > = [
    [
      EffectEntry.changePassword,
      "changePassword",
      [{ currentPassword: "a", newPassword: "b" }],
      "PUT",
      "account/password"
    ],
    [EffectEntry.logoutAll, "logoutAll", [], "POST", "auth/logout-all"],
    [
      EffectEntry.getOrganizationInvoice,
      "getOrganizationInvoice",
      ["org_1", "inv_1"],
      "GET",
      "organizations/org_1/invoices/inv_1"
    ],
    [
      EffectEntry.downloadOrganizationUpo,
      "downloadOrganizationUpo",
      ["org_1", "inv_1"],
      "GET",
      "organizations/org_1/invoices/inv_1/upo"
    ],
    [
      EffectEntry.downloadOrganizationDocument,
      "downloadOrganizationDocument",
      ["org_1", "inv_1"],
      "GET",
      "organizations/org_1/invoices/inv_1/document"
    ],
    [
      EffectEntry.downloadOrganizationPdf,
      "downloadOrganizationPdf",
      ["org_1", "inv_1"],
      "GET",
      "organizations/org_1/invoices/inv_1/pdf"
    ],
    [
      EffectEntry.downloadOrganizationQr,
      "downloadOrganizationQr",
      ["org_1", "inv_1", { code: 2, format: "png", label: false }],
      "GET",
      "organizations/org_1/invoices/inv_1/qr?code=2&format=png&label=false"
    ],
    [
      EffectEntry.getOverview,
      "getOverview",
      ["org_1", { window: "7d" }],
      "GET",
      "organizations/org_1/overview?window=7d"
    ],
    [EffectEntry.getLiveStatus, "getLiveStatus", ["org_1"], "GET", "organizations/org_1/live-status"],
    [EffectEntry.getDelivery, "getDelivery", ["we_1", "wd_1"], "GET", "webhook-endpoints/we_1/deliveries/wd_1"],
    [
      EffectEntry.listOrganizationDeliveries,
      "listOrganizationDeliveries",
      ["org_1", { limit: 1 }],
      "GET",
      "organizations/org_1/deliveries?limit=1"
    ],
    [
      EffectEntry.getDeliveryStats,
      "getDeliveryStats",
      ["we_1", { window: "7d" }],
      "GET",
      "webhook-endpoints/we_1/delivery-stats?window=7d"
    ]
  ]
  for (const [operation, name, args, method, path] of calls) {
    it.effect(`${name} sends its request, and fails in the error channel`, () =>
      Effect.gen(function* () {
        const { fetch, requests } = stub(() => problem(404, "not_found"))
        const session = EffectEntry.createTokenSession({
          baseUrl,
          fetch,
          accessToken: () => "token",
          renew: () => Promise.resolve(false)
        })
        const run = operation as (...all: ReadonlyArray<unknown>) => Effect.Effect<unknown, Error>
        const error = yield* Effect.flip(run(session, ...args))
        assert.strictEqual(error.name, "ApiError")
        assert.deepStrictEqual(
          requests.map(({ method, url }) => [method, url]),
          [[method, `${control}${path}`]]
        )
      })
    )
  }
})
