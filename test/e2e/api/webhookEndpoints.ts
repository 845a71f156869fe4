/** Webhook endpoints. */
import { assert, describe, it } from "vitest"
import { problemOf } from "../support/agreement.ts"
import { submit, until } from "../support/client.ts"
import { type ApiSuite, codeOf, control, data, id, record, timestamp } from "./suite.ts"

/** Registers the tests. */
export const testWebhookEndpoints = (api: ApiSuite): void => {
  const { call } = api

  describe("webhook endpoints", () => {
    const make = (body: Record<string, unknown>) =>
      call("POST", `${control}/organizations/${api.other.organizationId}/webhook-endpoints`, {
        auth: api.other.token,
        body
      })

    it("are created with a secret that is returned once, and the members of the contract", async () => {
      const answer = await make({
        url: "https://example.com/a?b=c",
        event_types: ["invoice.accepted"],
        description: "till"
      })
      const { created_at, id: endpointId, secret, updated_at, ...rest } = record(answer)
      assert.strictEqual(answer.status, 201)
      assert.match(String(endpointId), id("we"))
      assert.match(String(secret), /^whsec_[A-Za-z0-9]{44}$/)
      assert.match(String(created_at), timestamp)
      assert.strictEqual(updated_at, created_at)
      assert.deepStrictEqual(rest, {
        object: "webhook_endpoint",
        organization_id: api.other.organizationId,
        url: "https://example.com/a?b=c",
        description: "till",
        event_types: ["invoice.accepted"],
        enabled: true,
        disabled_reason: null,
        failing_since: null,
        standard_webhooks: false,
        modes: ["test", "live"],
        headers: [],
        max_in_flight: null,
        next_secret_at: null
      })
      const path = `${control}/webhook-endpoints/${String(endpointId)}`
      const shown = await call("GET", path, { auth: api.other.token })
      assert.notInclude(shown.text, '"secret"')
      assert.notInclude(shown.text, "whsec_")
      assert.deepStrictEqual(record(shown), { ...rest, id: endpointId, created_at, updated_at })

      const patched = await call("PATCH", path, {
        auth: api.other.token,
        body: { enabled: false, description: null, event_types: ["*"], url: "https://example.org:8443/" }
      })
      assert.deepInclude(record(patched), {
        enabled: false,
        description: null,
        event_types: ["*"],
        url: "https://example.org:8443/"
      })
      assert.isAtLeast(Date.parse(String(record(patched)["updated_at"])), Date.parse(String(created_at)))

      assert.strictEqual((await call("DELETE", path, { auth: api.other.token })).status, 204)
      for (const method of ["GET", "DELETE"]) {
        assert.strictEqual(codeOf(await call(method, path, { auth: api.other.token })), "webhook_endpoint_not_found")
      }
      const deliveries = await call("GET", `${path}/deliveries`, { auth: api.other.token })
      assert.strictEqual(codeOf(deliveries), "webhook_endpoint_not_found")
    })

    it.each([
      "",
      "example.com",
      "ftp://example.com",
      "http://example.com",
      "https://user:pass@example.com",
      "https://127.0.0.1",
      "https://[::1]/",
      "https://10.0.0.1",
      "https://169.254.169.254/latest",
      "https://localhost",
      "https://0x7f.1",
      "https://2130706433/",
      "https://[::ffff:10.0.0.1]",
      "https://",
      "javascript:alert(1)",
      "https://exa mple.com"
    ])("are not created for the URL %j", async (url) => {
      const answer = await make({ url, event_types: ["*"] })
      assert.strictEqual(codeOf(answer), "unsafe_webhook_url")
      const patched = await call("PATCH", `${control}/webhook-endpoints/${api.other.endpointId}`, {
        auth: api.other.token,
        body: { url }
      })
      assert.strictEqual(codeOf(patched), "unsafe_webhook_url")
    })

    it.each([
      ["no event types", { event_types: [] }],
      ["an event type that nobody knows", { event_types: ["invoice.lost"] }],
      ["all event types and one more", { event_types: ["*", "invoice.accepted"] }],
      ["an event type twice", { event_types: ["invoice.accepted", "invoice.accepted"] }],
      ["event types that are text", { event_types: "*" }]
    ])("are not created with %s", async (_, body) => {
      const answer = await make({ url: "https://example.com", ...body })
      assert.strictEqual(codeOf(answer), "invalid_parameter")
      assert.strictEqual(problemOf(answer).param, "event_types")
    })

    it("rotate their secret, at once or later, and a second rotation replaces the first", async () => {
      const made = record(await make({ url: "https://example.com", event_types: ["*"] }))
      const path = `${control}/webhook-endpoints/${String(made["id"])}/rotate-secret`
      const rotate = (body: Record<string, unknown>) => call("POST", path, { auth: api.other.token, body })
      const now = record(await rotate({}))
      const later = record(await rotate({ activates_in_seconds: 604_800 }))
      assert.isAtMost(Date.parse(String(now["secret_activates_at"])), Date.now())
      const wait = Date.parse(String(later["secret_activates_at"])) - Date.now()
      assert.isTrue(wait > 604_700_000 && wait <= 604_800_000)
      assert.strictEqual(now["next_secret_at"], null)
      assert.strictEqual(later["next_secret_at"], later["secret_activates_at"])
      const endpoint = await call("GET", path.replace("/rotate-secret", ""), { auth: api.other.token })
      assert.strictEqual(record(endpoint)["next_secret_at"], later["secret_activates_at"])
      const headers = { "content-type": "text/plain" }
      const bodiless = await call("POST", path, { auth: api.other.token, headers })
      assert.strictEqual(bodiless.status, 200)
      assert.isAtMost(Date.parse(String(record(bodiless)["secret_activates_at"])), Date.now())
      const secrets = [made, now, later, record(bodiless)].map(({ secret }) => secret)
      assert.strictEqual(new Set(secrets).size, 4)
      for (const wrong of [-1, 604_801, 1.5, "1"]) {
        const answer = await rotate({ activates_in_seconds: wrong })
        assert.strictEqual(codeOf(answer), "invalid_parameter", String(wrong))
      }
    })

    it("have no deliveries while they are disabled", async () => {
      const made = record(await make({ url: "https://example.com", event_types: ["invoice.received"], enabled: false }))
      const path = `${control}/webhook-endpoints/${String(made["id"])}`
      await submit(call, api.other.testKey)
      const none = await call("GET", `${path}/deliveries`, { auth: api.other.token })
      assert.deepStrictEqual(record(none), { object: "list", data: [], has_more: false, next_cursor: null })
    })

    it("have records of deliveries with exactly the members of the specification", async () => {
      const made = record(await make({ url: "https://nowhere.invalid/", event_types: ["invoice.received"] }))
      const path = `${control}/webhook-endpoints/${String(made["id"])}/deliveries`
      await submit(call, api.other.testKey)
      const answer = await until(
        () => call("GET", path, { auth: api.other.token }),
        (answer) => data(answer)[0]?.["status"] === "retrying"
      )
      const [delivery] = data(answer)
      assert.match(String(delivery?.["id"]), id("wd"))
      assert.match(String(delivery?.["event_id"]), id("evt"))
      for (const name of ["created_at", "updated_at", "last_attempted_at", "next_retry_at"]) {
        assert.match(String(delivery?.[name]), timestamp, name)
      }
      assert.deepInclude(delivery, {
        object: "webhook_delivery",
        event_type: "invoice.received",
        endpoint_id: made["id"],
        attempt_count: 1,
        last_http_status: null,
        delivered_at: null
      })
      assert.isString(delivery?.["last_error_summary"])
      assert.lengthOf(Object.keys(delivery ?? {}), 14)
      const eventId = String(delivery?.["event_id"])
      const found = await call("GET", `${path}?event_id=${eventId}&status=retrying`, { auth: api.other.token })
      assert.lengthOf(data(found), 1)
      const elsewhere = await call("GET", `${path}?event_id=evt_x`, { auth: api.other.token })
      assert.lengthOf(data(elsewhere), 0)
      assert.lengthOf(data(await call("GET", `${path}?status=succeeded`, { auth: api.other.token })), 0)
      await call("DELETE", `${control}/webhook-endpoints/${String(made["id"])}`, { auth: api.other.token })
    })
  })
}
