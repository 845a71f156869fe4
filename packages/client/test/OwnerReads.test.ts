/** An owner's reads of invoices and deliveries, with a real server. */
import { randomUUID } from "node:crypto"
import { readFile } from "node:fs/promises"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import {
  changePassword,
  type Client,
  type ControlPlane,
  createClient,
  createControlPlane,
  downloadOrganizationDocument,
  downloadOrganizationQr,
  downloadOrganizationUpo,
  getDelivery,
  getDeliveryStats,
  getOrganizationInvoice,
  getOverview,
  isApiError,
  listInvoices,
  listOrganizationDeliveries,
  logoutAll
} from "../src/index.ts"
import { type Service, startService } from "./support/service.ts"

const email = `${randomUUID()}@example.com`
const password = "correct horse battery staple"
const another = "another correct horse battery staple"

let receiver: Server
let service: Service
let owner: ControlPlane
let client: Client
let organizationId: string
let endpointId: string

beforeAll(async () => {
  receiver = createServer((_, response) => response.writeHead(204).end()).listen(0, "127.0.0.1")
  service = await startService({ GOVOICE_WEBHOOK_ALLOW_HTTP: "true", GOVOICE_WEBHOOK_ALLOW_NETWORKS: "127.0.0.0/8" })
  owner = createControlPlane({ baseUrl: service.baseUrl })
  await owner.accounts.create({ email, password })
  await owner.login({ email, password })
  organizationId = (await owner.organizations.create({ name: "Sprzedawca Testowy" })).id
  const { port } = receiver.address() as AddressInfo
  const endpoint = await owner.webhookEndpoints.create(organizationId, {
    url: `http://127.0.0.1:${port}/`,
    eventTypes: ["invoice.received"]
  })
  assert.isNull(endpoint.nextSecretAt)
  endpointId = endpoint.id
  const { secret } = await owner.apiKeys.create(organizationId, { mode: "test" })
  client = createClient({ apiKey: secret, baseUrl: service.baseUrl })
})
afterAll(async () => {
  receiver?.close()
  await service?.[Symbol.asyncDispose]()
})

const delivered = async () => {
  for (;;) {
    const [delivery] = (await listOrganizationDeliveries(owner, organizationId, { status: "succeeded" }).page()).data
    if (delivery !== undefined) return delivery
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

describe("An owner", () => {
  it("reads invoices, receipts, deliveries and counts", async () => {
    const idempotencyKey = randomUUID()
    const metadata = { order: "2026/11 & [42]" }
    const { id } = await client.invoices.submitAndWait({ invoiceXml: "<Faktura/>", metadata }, { idempotencyKey })
    // Its record changes once more when the receipt is there.
    await client.invoices.waitForUpo(id)
    const found: Array<unknown> = []
    for await (const invoice of client.invoices.list({ metadata, status: "accepted", limit: 1 })) found.push(invoice)
    assert.deepStrictEqual(found, [await client.invoices.get(id)])
    for (const none of [{ metadata: { order: "2026/12" } }, { createdBefore: "2026-01-01T00:00:00Z" }]) {
      assert.lengthOf((await client.invoices.list(none).page()).data, 0)
    }
    await client.invoices.waitForUpo(id)
    assert.deepStrictEqual(await getOrganizationInvoice(owner, organizationId, id), await client.invoices.get(id))
    const upo = await downloadOrganizationUpo(owner, organizationId, id)
    assert.strictEqual(await upo.text(), await (await client.invoices.downloadUpo(id)).text())

    const document = await downloadOrganizationDocument(owner, organizationId, id)
    assert.strictEqual(await document.text(), "<Faktura/>")
    assert.strictEqual(await (await client.invoices.document(id)).text(), "<Faktura/>")
    // A document without seller and date has no code.
    for (const draw of [
      () => client.invoices.qr(id),
      () => downloadOrganizationQr(owner, organizationId, id, { code: 2 })
    ]) {
      assert.isTrue(isApiError(await draw().catch((error: unknown) => error), "verification_not_available"))
    }

    const delivery = await delivered()
    assert.deepStrictEqual(await getDelivery(owner, endpointId, delivery.id), delivery)
    for (const filter of [
      { eventId: delivery.eventId },
      { mode: "test", idempotencyKey },
      { createdAfter: delivery.createdAt.replace(/T.*/, "T00:00:00Z") }
    ] as const) {
      const { data } = await listInvoices(owner, organizationId, filter).page()
      assert.deepStrictEqual(
        data.map((invoice) => invoice.id),
        [id]
      )
    }
    const none = { eventType: "invoice.failed", createdBefore: "2026-01-01T00:00:00Z" } as const
    assert.lengthOf((await listOrganizationDeliveries(owner, organizationId, none).page()).data, 0)

    for (const [window, buckets] of [
      ["24h", 24],
      ["7d", 28]
    ] as const) {
      const stats = await getDeliveryStats(owner, endpointId, { window })
      assert.strictEqual(stats.window, window)
      assert.lengthOf(stats.buckets, buckets)
      assert.strictEqual(
        stats.buckets.reduce((sum, { total }) => sum + total, 0),
        1
      )
    }
    assert.strictEqual((await getDeliveryStats(owner, endpointId)).window, "24h")
    for (const [window, buckets] of [
      ["24h", 24],
      ["7d", 28]
    ] as const) {
      const overview = await getOverview(owner, organizationId, { window })
      assert.strictEqual(overview.window, window)
      assert.lengthOf(overview.endpoints[0]!.buckets, buckets)
    }
    const { endpoints, invoices, window } = await getOverview(owner, organizationId)
    assert.strictEqual(window, "24h")
    assert.deepStrictEqual(
      endpoints.map((endpoint) => [endpoint.endpointId, endpoint.failed24h]),
      [[endpointId, 0]]
    )
    assert.deepInclude(invoices, { retrying: 0, rejected24h: 0, failed24h: 0 })
    assert.strictEqual(invoices.accepted24h + invoices.inProgress, 1)
  })

  it("finds an invoice by its numbers, its buyer, its seller and its metadata", async () => {
    const order = { order: "4711" }
    const fa = await readFile(new URL("../../../examples/invoices/fa3-vat23.xml", import.meta.url), "utf8")
    const submission = { invoiceXml: fa, metadata: order }
    const { id: named, officialNumber } = await client.invoices.submitAndWait(submission)
    for (const filter of [
      { number: " FV/2026/11/0001 " },
      { officialNumber: officialNumber! },
      { buyerTaxId: "5260250274" },
      { sellerTaxId: "5265877635", metadata: order }
    ]) {
      for (const list of [client.invoices.list(filter), listInvoices(owner, organizationId, filter)]) {
        const { data } = await list.page()
        assert.deepStrictEqual(
          data.map((invoice) => invoice.id),
          [named]
        )
      }
      assert.lengthOf((await client.invoices.list({ ...filter, status: "rejected" }).page()).data, 0)
    }
    assert.lengthOf((await client.invoices.list({ number: "FV/2026/11/0002" }).page()).data, 0)
  })

  it("changes the password, and logs out everywhere", async () => {
    const elsewhere = createControlPlane({ baseUrl: service.baseUrl })
    await elsewhere.login({ email, password })
    await changePassword(owner, { currentPassword: password, newPassword: another })
    const ended = await elsewhere.accounts.get().catch((error: unknown) => error)
    assert.isTrue(isApiError(ended, "invalid_refresh_token"))
    assert.strictEqual((await owner.accounts.get()).email, email)
    await logoutAll(owner)
    assert.isTrue(isApiError(await owner.accounts.get().catch((error: unknown) => error), "invalid_refresh_token"))
    await owner.login({ email, password: another })
  })
})
