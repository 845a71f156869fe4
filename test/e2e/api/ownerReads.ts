/** Reads of invoices and deliveries with an access token. */
import { assert, describe, it } from "vitest"
import { problemOf } from "../support/agreement.ts"
import { signUp, submit, type Tenant, until } from "../support/client.ts"
import { type ApiSuite, codeOf, control, data, record } from "./suite.ts"

/** Registers the tests. */
export const testOwnerReads = (api: ApiSuite): void => {
  const { call } = api

  const addEndpoint = async ({ organizationId, token: auth }: Tenant, event_types: ReadonlyArray<string> = ["*"]) =>
    String(
      record(
        await call("POST", `${control}/organizations/${organizationId}/webhook-endpoints`, {
          auth,
          body: { url: "https://nowhere.invalid/", event_types }
        })
      )["id"]
    )

  describe("an owner", () => {
    it("reads an invoice of the organization and its files as its API key does", async () => {
      const owner = await signUp(call)
      const invoiceId = await api.accepted(owner.testKey)
      const path = `${control}/organizations/${owner.organizationId}/invoices/${invoiceId}`
      const invoice = await call("GET", path, { auth: owner.token })
      assert.deepStrictEqual(
        record(invoice),
        record(await call("GET", `/v1/invoices/${invoiceId}`, { auth: owner.testKey }))
      )
      for (const file of ["/upo", "/document", "/pdf", "/qr", "/qr?format=png"]) {
        const found = await call("GET", path + file, { auth: owner.token })
        const same = await call("GET", `/v1/invoices/${invoiceId}${file}`, { auth: owner.testKey })
        assert.strictEqual(found.status, 200, file)
        assert.strictEqual(found.text, same.text, file)
        for (const name of ["content-type", "etag", "content-disposition", "cache-control"]) {
          assert.strictEqual(found.headers.get(name), same.headers.get(name), name)
        }
        const headers = { "if-none-match": found.headers.get("etag") ?? "" }
        assert.strictEqual((await call("GET", path + file, { auth: owner.token, headers })).status, 304, file)
      }
    })

    it("finds no invoice of another organization, not even of the same account", async () => {
      const owner = await signUp(call)
      const invoiceId = await api.accepted(owner.testKey)
      const second = record(
        await call("POST", `${control}/organizations`, { auth: owner.token, body: { name: "Second" } })
      )
      for (const [organization, id, auth, code] of [
        [String(second["id"]), invoiceId, owner.token, "invoice_not_found"],
        [owner.organizationId, "inv_x", owner.token, "invoice_not_found"],
        [owner.organizationId, invoiceId, api.other.token, "organization_not_found"],
        [api.other.organizationId, invoiceId, api.other.token, "invoice_not_found"]
      ] as const) {
        for (const suffix of ["", "/upo", "/document", "/pdf", "/qr"]) {
          const answer = await call("GET", `${control}/organizations/${organization}/invoices/${id}${suffix}`, { auth })
          assert.strictEqual(codeOf(answer), code)
        }
      }
    })

    it("is refused a PDF of a document of another form", async () => {
      const owner = await signUp(call)
      const { id } = record(await submit(call, owner.testKey, { body: { invoice_xml: "<a/>" } }))
      const path = `${control}/organizations/${owner.organizationId}/invoices/${String(id)}/pdf`
      assert.strictEqual(codeOf(await call("GET", path, { auth: owner.token })), "pdf_not_available")
    })

    it("is refused a QR code that the invoice does not have", async () => {
      const owner = await signUp(call)
      const { id } = record(await submit(call, owner.testKey))
      const path = `${control}/organizations/${owner.organizationId}/invoices/${String(id)}/qr`
      for (const [query, code] of [
        ["code=2", "verification_not_available"],
        ["format=gif", "invalid_parameter"],
        ["size=3", "unknown_parameter"]
      ]) {
        assert.strictEqual(codeOf(await call("GET", `${path}?${query}`, { auth: owner.token })), code)
      }
    })

    it("is answered upo_not_available before there is a receipt", async () => {
      const owner = await signUp(call)
      const headers = { "gov-sandbox-scenario": "delayed" }
      const { id } = record(await submit(call, owner.testKey, { headers }))
      const path = `${control}/organizations/${owner.organizationId}/invoices/${String(id)}/upo`
      assert.strictEqual(codeOf(await call("GET", path, { auth: owner.token })), "upo_not_available")
    })

    it("reads one delivery as its list shows it, and none of another endpoint", async () => {
      const owner = await signUp(call)
      const endpointId = await addEndpoint(owner, ["invoice.received"])
      await submit(call, owner.testKey)
      const path = `${control}/webhook-endpoints/${endpointId}/deliveries`
      const list = await until(
        () => call("GET", path, { auth: owner.token }),
        (answer) => data(answer)[0]?.["status"] === "retrying"
      )
      const [listed] = data(list)
      const id = String(listed?.["id"])
      assert.deepStrictEqual(record(await call("GET", `${path}/${id}`, { auth: owner.token })), listed)
      const ofAnother = `${control}/webhook-endpoints/${owner.endpointId}/deliveries/${id}`
      assert.strictEqual(codeOf(await call("GET", ofAnother, { auth: owner.token })), "webhook_delivery_not_found")
      assert.strictEqual(codeOf(await call("GET", `${path}/wd_x`, { auth: owner.token })), "webhook_delivery_not_found")
      const foreign = await call("GET", `${path}/${id}`, { auth: api.other.token })
      assert.strictEqual(codeOf(foreign), "webhook_endpoint_not_found")
    })

    it("lists the deliveries of all endpoints, filtered, and not those of deleted ones", async () => {
      const owner = await signUp(call)
      const [received, all] = [await addEndpoint(owner, ["invoice.received"]), await addEndpoint(owner)]
      const invoiceId = await api.accepted(owner.testKey)
      const path = `${control}/organizations/${owner.organizationId}/deliveries`
      const list = (query = "") => call("GET", `${path}?${query}`, { auth: owner.token })
      const everything = data(
        await until(
          () => list("limit=100"),
          (answer) => data(answer).length === 5
        )
      )
      const idsOf = (records: ReadonlyArray<Record<string, unknown>>) => records.map(({ id }) => String(id))
      assert.deepStrictEqual(idsOf(everything), idsOf(everything).toSorted().toReversed())
      assert.deepStrictEqual(new Set(everything.map(({ endpoint_id }) => endpoint_id)), new Set([received, all]))
      const ofEvent = String(everything.find(({ event_type }) => event_type === "invoice.received")?.["event_id"])
      assert.lengthOf(data(await list(`event_id=${ofEvent}`)), 2)
      assert.lengthOf(data(await list("event_type=invoice.received")), 2)
      assert.lengthOf(data(await list("event_type=invoice.accepted")), 1)
      assert.lengthOf(data(await list("event_id=evt_x")), 0)
      const past = new Date(Date.now() - 60_000).toISOString()
      assert.lengthOf(data(await list(`created_after=${past}`)), 5)
      assert.lengthOf(data(await list(`created_before=${past}`)), 0)

      const pages: Array<string> = []
      let cursor = ""
      do {
        const answer = record(await list(`limit=2${cursor === "" ? "" : `&cursor=${cursor}`}`))
        pages.push(...idsOf(answer["data"] as ReadonlyArray<Record<string, unknown>>))
        cursor = (answer["next_cursor"] as string | null) ?? ""
      } while (cursor !== "")
      assert.deepStrictEqual(pages, idsOf(everything))

      // The same filters for one endpoint.
      const ofEndpoint = (query: string) =>
        call("GET", `${control}/webhook-endpoints/${all}/deliveries?${query}`, { auth: owner.token })
      assert.lengthOf(data(await ofEndpoint("event_type=invoice.accepted")), 1)
      assert.lengthOf(data(await ofEndpoint(`created_before=${past}`)), 0)
      assert.lengthOf(data(await ofEndpoint(`created_after=${past}&limit=100`)), 4)

      // The invoice of an event, and of an idempotency key.
      const invoices = (query: string) =>
        call("GET", `${control}/organizations/${owner.organizationId}/invoices?${query}`, { auth: owner.token })
      assert.deepStrictEqual(idsOf(data(await invoices(`event_id=${ofEvent}`))), [invoiceId])
      assert.lengthOf(data(await invoices(`event_id=${ofEvent}&status=rejected`)), 0)
      assert.lengthOf(data(await invoices("event_id=evt_x")), 0)
      assert.lengthOf(data(await invoices(`created_before=${past}`)), 0)
      assert.lengthOf(data(await invoices(`created_after=${past}&mode=test`)), 1)
      const headers = { "idempotency-key": "order 4711" }
      const { id } = record(await submit(call, owner.testKey, { headers }))
      assert.deepStrictEqual(idsOf(data(await invoices("mode=test&idempotency_key=order%204711"))), [id])
      assert.lengthOf(data(await invoices("mode=live&idempotency_key=order%204711")), 0)
      const foreign = `${control}/organizations/${api.other.organizationId}/invoices`
      for (const query of [`event_id=${ofEvent}`, "mode=test&idempotency_key=order%204711"]) {
        assert.lengthOf(data(await call("GET", `${foreign}?${query}`, { auth: api.other.token })), 0)
      }

      await call("DELETE", `${control}/webhook-endpoints/${all}`, { auth: owner.token })
      assert.deepStrictEqual(new Set(data(await list()).map(({ endpoint_id }) => endpoint_id)), new Set([received]))
    })

    it("lists the deliveries of an invoice to their owner only", async () => {
      const owner = await signUp(call)
      const [received, all] = [await addEndpoint(owner, ["invoice.received"]), await addEndpoint(owner)]
      const [first, second] = [await api.accepted(owner.testKey), await api.accepted(owner.testKey)]
      const path = `${control}/organizations/${owner.organizationId}/deliveries`
      const list = (query: string) => call("GET", `${path}?${query}`, { auth: owner.token })
      await until(
        () => list("limit=100"),
        (answer) => data(answer).length === 10
      )
      const idsOf = (records: ReadonlyArray<Record<string, unknown>>) => records.map(({ id }) => String(id))
      const eventsOf = (records: ReadonlyArray<Record<string, unknown>>) =>
        new Set(records.map(({ event_id }) => String(event_id)))
      const [ofFirst, ofSecond] = [data(await list(`invoice_id=${first}`)), data(await list(`invoice_id=${second}`))]
      assert.lengthOf(ofFirst, 5)
      assert.lengthOf(ofSecond, 5)
      assert.deepStrictEqual(idsOf(ofFirst), idsOf(ofFirst).toSorted().toReversed())
      assert.isFalse([...eventsOf(ofFirst)].some((event) => eventsOf(ofSecond).has(event)))
      for (const event of eventsOf(ofFirst)) {
        const invoices = `${control}/organizations/${owner.organizationId}/invoices?event_id=${event}`
        assert.deepStrictEqual(idsOf(data(await call("GET", invoices, { auth: owner.token }))), [first])
        assert.lengthOf(data(await list(`invoice_id=${second}&event_id=${event}`)), 0)
      }

      // With the other filters, in pages, and for one endpoint.
      assert.lengthOf(data(await list(`invoice_id=${first}&event_type=invoice.received`)), 2)
      assert.lengthOf(data(await list(`invoice_id=${first}&status=succeeded`)), 0)
      const page = record(await list(`invoice_id=${first}&limit=3`))
      const cursor = String(page["next_cursor"])
      const rest = data(await list(`invoice_id=${first}&limit=3&cursor=${cursor}`))
      assert.deepStrictEqual(
        [...idsOf(page["data"] as ReadonlyArray<Record<string, unknown>>), ...idsOf(rest)],
        idsOf(ofFirst)
      )
      const moved = await list(`invoice_id=${second}&limit=3&cursor=${cursor}`)
      assert.strictEqual(codeOf(moved), "invalid_parameter")
      assert.strictEqual(problemOf(moved).param, "cursor")
      const ofEndpoint = (id: string, auth: string, query = `invoice_id=${first}`) =>
        call("GET", `${control}/webhook-endpoints/${id}/deliveries?${query}`, { auth })
      assert.lengthOf(data(await ofEndpoint(received, owner.token)), 1)
      assert.lengthOf(data(await ofEndpoint(all, owner.token)), 4)

      // Another owner finds nothing by it, and neither does anybody by an invoice that does not exist.
      const foreign = `${control}/organizations/${api.other.organizationId}/deliveries?invoice_id=${first}`
      assert.lengthOf(data(await call("GET", foreign, { auth: api.other.token })), 0)
      assert.lengthOf(data(await ofEndpoint(api.other.endpointId, api.other.token)), 0)
      assert.strictEqual(
        codeOf(await call("GET", `${path}?invoice_id=${first}`, { auth: api.other.token })),
        "organization_not_found"
      )
      assert.strictEqual(codeOf(await ofEndpoint(all, api.other.token)), "webhook_endpoint_not_found")
      for (const unknown of ["inv_x", first.replace("inv_", "evt_"), `${first.slice(0, -1)}!`]) {
        assert.lengthOf(data(await list(`invoice_id=${encodeURIComponent(unknown)}`)), 0)
      }
    })

    it("is refused unreadable filters", async () => {
      const { organizationId, token: auth, endpointId } = api.tenant
      const deliveries = [
        `${control}/organizations/${organizationId}/deliveries`,
        `${control}/webhook-endpoints/${endpointId}/deliveries`
      ]
      const times = [
        "created_after=yesterday",
        "created_after=",
        "created_before=2026-02-30T00:00:00Z",
        "created_before=2026-11-20",
        "created_after=2026-11-20T00:00:00%2B01:00"
      ]
      for (const path of deliveries) {
        const unreadable = ["event_type=invoice.lost", "event_type=", "event_id=", "invoice_id=", "status=accepted"]
        for (const query of [...times, ...unreadable]) {
          const answer = await call("GET", `${path}?${query}`, { auth })
          assert.strictEqual(codeOf(answer), "invalid_parameter", query)
          assert.strictEqual(problemOf(answer).param, query.split("=")[0])
        }
      }
      const ofSubmission = ["mode=test&idempotency_key=", "mode=test&idempotency_key=%00", "idempotency_key=order"]
      for (const query of [...times, "event_id=", ...ofSubmission]) {
        const answer = await call("GET", `${control}/organizations/${organizationId}/invoices?${query}`, { auth })
        assert.strictEqual(codeOf(answer), "invalid_parameter", query)
      }
    })

    it("reads the counts of an endpoint and of the organization", async () => {
      const owner = await signUp(call)
      const endpointId = await addEndpoint(owner, ["invoice.received"])
      await submit(call, owner.testKey)
      await submit(call, owner.testKey, { headers: { "gov-sandbox-scenario": "rejected" } })
      await until(
        () =>
          call("GET", `${control}/webhook-endpoints/${endpointId}/deliveries?status=retrying`, { auth: owner.token }),
        (answer) => data(answer).length === 2
      )
      await until(
        () =>
          call("GET", `${control}/organizations/${owner.organizationId}/invoices?status=rejected`, {
            auth: owner.token
          }),
        (answer) => data(answer).length === 1
      )
      const stats = (window: string) =>
        call("GET", `${control}/webhook-endpoints/${endpointId}/delivery-stats${window}`, { auth: owner.token })
      type Bucket = { readonly start: string; readonly total: number; readonly retrying: number }
      for (const [query, buckets, seconds] of [
        ["", 24, 3600],
        ["?window=24h", 24, 3600],
        ["?window=7d", 28, 21_600]
      ] as const) {
        const answer = record(await stats(query))
        assert.deepInclude(answer, {
          object: "webhook_delivery_stats",
          endpoint_id: endpointId,
          bucket_seconds: seconds
        })
        assert.deepInclude(answer["now"] as object, { retrying: 2 })
        const intervals = answer["buckets"] as ReadonlyArray<Bucket>
        assert.lengthOf(intervals, buckets)
        const starts = intervals.map(({ start }) => Date.parse(start))
        for (let n = 1; n < buckets; n++) assert.strictEqual(starts[n]! - starts[n - 1]!, seconds * 1000)
        assert.isAtMost(starts.at(-1)!, Date.now())
        assert.strictEqual(
          intervals.reduce((sum, { retrying }) => sum + retrying, 0),
          2
        )
      }
      for (const query of ["?window=1h", "?window=", "?window=24h&window=7d"]) {
        assert.strictEqual(codeOf(await stats(query)), "invalid_parameter")
      }
      assert.strictEqual(codeOf(await stats("?buckets=1")), "unknown_parameter")

      const overviewOf = (query: string) =>
        call("GET", `${control}/organizations/${owner.organizationId}/overview${query}`, { auth: owner.token })
      for (const [query, window, buckets, seconds] of [
        ["", "24h", 24, 3600],
        ["?window=24h", "24h", 24, 3600],
        ["?window=7d", "7d", 28, 21_600]
      ] as const) {
        const overview = record(await overviewOf(query))
        assert.deepInclude(overview, { object: "organization_overview", window, bucket_seconds: seconds })
        assert.propertyVal(overview, "limited_since", null)
        assert.deepStrictEqual(overview["notices"], [])
        assert.deepInclude(overview["invoices"], { retrying: 0, rejected_24h: 1, failed_24h: 0 })
        const endpoints = overview["endpoints"] as ReadonlyArray<Record<string, unknown>>
        assert.deepStrictEqual(
          endpoints.map(({ endpoint_id }) => endpoint_id),
          [endpointId, owner.endpointId]
        )
        assert.deepInclude(endpoints[0], { retrying: 2, failed_24h: 0 })
        const intervals = endpoints[0]?.["buckets"] as ReadonlyArray<Bucket>
        assert.lengthOf(intervals, buckets)
        assert.strictEqual(Date.parse(intervals[1]!.start) - Date.parse(intervals[0]!.start), seconds * 1000)
      }
      for (const query of ["?window=1h", "?window=", "?window=24h&window=7d"]) {
        assert.strictEqual(codeOf(await overviewOf(query)), "invalid_parameter")
      }
      assert.strictEqual(codeOf(await overviewOf("?buckets=1")), "unknown_parameter")
    })

    it("reads no counts of another account, in any window, before and after its owner has read them", async () => {
      const [owner, stranger] = [await signUp(call), await signUp(call)]
      const [overview, stats] = [
        `${control}/organizations/${owner.organizationId}/overview`,
        `${control}/webhook-endpoints/${owner.endpointId}/delivery-stats`
      ]
      const ofOther = `${control}/organizations/${stranger.organizationId}/overview`
      for (const query of ["", "?window=24h", "?window=7d"]) {
        for (const isCached of [false, true]) {
          const note = `${query} ${isCached}`
          const foreign = await call("GET", `${overview}${query}`, { auth: stranger.token })
          assert.strictEqual(codeOf(foreign), "organization_not_found", note)
          const foreignStats = await call("GET", `${stats}${query}`, { auth: stranger.token })
          assert.strictEqual(codeOf(foreignStats), "webhook_endpoint_not_found", note)
          if (isCached) continue
          const own = record(await call("GET", `${overview}${query}`, { auth: owner.token }))
          const endpoints = own["endpoints"] as ReadonlyArray<Record<string, unknown>>
          assert.deepStrictEqual(
            endpoints.map(({ endpoint_id }) => endpoint_id),
            [owner.endpointId],
            note
          )
          assert.strictEqual((await call("GET", `${stats}${query}`, { auth: owner.token })).status, 200, note)
        }
        const { endpoints } = record(await call("GET", `${ofOther}${query}`, { auth: stranger.token }))
        const ids = (endpoints as ReadonlyArray<Record<string, unknown>>).map(({ endpoint_id }) => endpoint_id)
        assert.notInclude(ids, owner.endpointId, query)
      }
      const keyed = await call("GET", `${overview}?window=7d`, { auth: owner.testKey })
      assert.strictEqual(keyed.status, 401)
      const anonymous = await call("GET", `${overview}?window=7d`)
      assert.strictEqual(anonymous.status, 401)
    })

    it("may ask for counts twice a second", async () => {
      const owner = await signUp(call)
      const paths = [
        `${control}/organizations/${owner.organizationId}/overview`,
        `${control}/webhook-endpoints/${owner.endpointId}/delivery-stats`
      ]
      const answers: Array<string> = []
      for (let time = 0; time < 22; time++) {
        answers.push(codeOf(await call("GET", paths[time % 2]!, { auth: owner.token })))
      }
      assert.deepStrictEqual(answers.slice(0, 20), Array<string>(20).fill("200"))
      assert.deepStrictEqual(answers.slice(20), ["rate_limit_exceeded", "rate_limit_exceeded"])
    })
  })
}
