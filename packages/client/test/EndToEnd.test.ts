/** The client with a real server: each operation, and each sandbox scenario. */
import { randomUUID } from "node:crypto"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { makePair } from "../../ksef/test/support/certificates.ts"
import {
  type ApiError,
  type Client,
  type ControlPlane,
  createClient,
  createControlPlane,
  isApiError,
  type Organization,
  type UpoUnavailableError
} from "../src/index.ts"
import { type Service, startService } from "./support/service.ts"

const invoiceXml = readFileSync(join(import.meta.dirname, "../../../examples/invoices/fa3-vat23.xml"), "utf8")
const password = "correct horse battery staple"

let service: Service
let apiKey: string
let owner: ControlPlane
let organization: Organization
let client: Client

const signUp = async (): Promise<ControlPlane> => {
  const controlPlane = createControlPlane({ baseUrl: service.baseUrl })
  const email = `${randomUUID()}@example.com`
  await controlPlane.accounts.create({ email, password })
  await controlPlane.login({ email, password })
  assert.strictEqual((await controlPlane.accounts.get()).email, email)
  return controlPlane
}

const all = async <A>(records: AsyncIterable<A>): Promise<ReadonlyArray<A>> => {
  const found: Array<A> = []
  for await (const record of records) found.push(record)
  return found
}

const failure = async (promise: Promise<unknown>): Promise<ApiError> => {
  const error: unknown = await promise.then(
    () => assert.fail("it succeeded"),
    (error: unknown) => error
  )
  assert.isTrue(isApiError(error), String(error))
  return error as ApiError
}

beforeAll(async () => {
  service = await startService({ GOVOICE_WEBHOOK_ALLOW_HTTP: "true", GOVOICE_WEBHOOK_ALLOW_NETWORKS: "127.0.0.0/8" })
  owner = await signUp()
  organization = await owner.organizations.create({ name: "Sprzedawca Testowy" })
  apiKey = (await owner.apiKeys.create(organization.id, { mode: "test", name: "Tests" })).secret
  client = createClient({ apiKey, baseUrl: `${service.baseUrl}/` })
})
afterAll(() => service?.[Symbol.asyncDispose]())

describe("The developer API", () => {
  it("returns the API key and its organization", async () => {
    const me = await client.me()
    assert.strictEqual(me.organization.id, organization.id)
    assert.strictEqual(me.mode, "test")
    assert.strictEqual(me.liveModeAvailable, false)
  })

  it("submits an invoice, waits for the final status and downloads the receipt", async () => {
    const seen: Array<string> = []
    const submitted = await client.invoices.submitAndWait(
      { invoiceXml, metadata: { order_id: "2026/11/0042" } },
      { onProgress: ({ status }) => seen.push(status) }
    )
    assert.strictEqual(submitted.status, "accepted")
    assert.deepStrictEqual(submitted.metadata, { order_id: "2026/11/0042" })
    assert.match(submitted.officialNumber!, /^5265877635-/)
    assert.deepStrictEqual([seen.at(0), seen.at(-1)], ["queued", "accepted"])

    const { id } = await client.invoices.waitForUpo(submitted.id)
    const upo = await client.invoices.downloadUpo(id)
    const text = await upo.text()
    assert.include(text, submitted.officialNumber!)
    assert.deepStrictEqual(new TextDecoder().decode(await upo.bytes()), text)
    assert.deepStrictEqual(await new Response(upo.stream()).text(), text)
  })

  it("creates one invoice for one idempotency key", async () => {
    const idempotencyKey = randomUUID()
    const submit = (xml: string) => client.invoices.submit({ invoiceXml: xml }, { idempotencyKey })
    const [first, second] = await Promise.all([submit(invoiceXml), submit(invoiceXml)])
    assert.strictEqual(first.id, second.id)
    assert.strictEqual(first.idempotencyKey, idempotencyKey)

    const conflict = await failure(submit("<another/>"))
    assert.isTrue(isApiError(conflict, "idempotency_conflict"))
    assert.strictEqual(conflict.idempotencyKey, idempotencyKey)
    assert.strictEqual(conflict.param, "Idempotency-Key")
  })

  it("returns a rejected invoice, and fails the wait for its receipt", async () => {
    const { id } = await client.invoices.submit({ invoiceXml, sandboxScenario: "rejected" })
    const invoice = await client.invoices.waitUntilFinal(id)
    assert.strictEqual(invoice.rejection?.code, "sandbox_rejected")
    const error = (await client.invoices.waitForUpo(id).catch((error: unknown) => error)) as UpoUnavailableError
    assert.strictEqual(error._tag, "UpoUnavailableError")
    assert.strictEqual(error.invoice.id, id)
  })

  it("returns a failed invoice after retries", async () => {
    const { failure, status } = await client.invoices.submitAndWait({
      invoiceXml,
      sandboxScenario: "temporary_failure"
    })
    assert.strictEqual(status, "failed")
    assert.strictEqual(failure?.code, "gateway_unavailable")
  })

  it("waits for a delayed decision", async () => {
    const { id } = await client.invoices.submit({ invoiceXml, sandboxScenario: "delayed" })
    // Without retries: a later attempt may succeed.
    const impatient = createClient({ apiKey, baseUrl: service.baseUrl, maxRetries: 0 })
    const early = await failure(impatient.invoices.downloadUpo(id))
    assert.isTrue(isApiError(early, "upo_not_available"))
    assert.strictEqual(early.retryable, true)
    assert.isTrue((await client.invoices.waitForUpo(id)).upoAvailable)
  })

  it("fails with line and column for an invalid document", async () => {
    const error = await failure(client.invoices.submit({ invoiceXml: "<a>" }))
    assert.deepInclude(error, {
      _tag: "ApiError",
      code: "invalid_invoice_xml",
      type: "validation_error",
      param: "invoice_xml",
      status: 422,
      attempts: 1,
      retryable: false
    })
    assert.match(error.requestId!, /^req_/)
    assert.match(error.message, /line 1, column/)
  })

  it.each(["", "..", "../me", "inv_01m7q5cqg0e6786ptds43fm4k3", "a/upo"])(
    "fails with invoice_not_found for %j",
    async (id) => {
      assert.strictEqual((await failure(client.invoices.get(id))).code, "invoice_not_found")
    }
  )

  it("fails with missing_api_key for an unknown key", async () => {
    const stranger = createClient({ apiKey: "sk_test_nobody", baseUrl: service.baseUrl })
    assert.strictEqual((await failure(stranger.me())).code, "missing_api_key")
  })
})

describe("The control plane", () => {
  it("creates, changes and lists organizations", async () => {
    const { id } = await owner.organizations.create({ name: "Ż" })
    assert.strictEqual((await owner.organizations.update(id, { name: "Ź" })).name, "Ź")
    await owner.organizations.setGatewayCredential(id, {
      token: "20261119-EC-0",
      context: { type: "Nip", value: "5265877635" }
    })
    assert.isTrue((await owner.organizations.get(id)).gatewayCredential.present)
    assert.deepInclude(await owner.organizations.getGatewayCredential(id), {
      present: true,
      type: "ksef_token",
      context: { type: "Nip", value: "5265877635" },
      state: "unchecked",
      refusal: null
    })
    const { certificate, privateKey } = makePair({ key: "P-256" })
    await owner.organizations.setGatewayCredential(id, {
      type: "certificate",
      certificate,
      privateKey,
      context: { type: "Nip", value: "5265877635" }
    })
    assert.strictEqual((await owner.organizations.getGatewayCredential(id)).type, "certificate")
    const offline = makePair({ key: "P-256", keyUsage: ["nonRepudiation"], serial: "0a" })
    const { certificate: offlineCertificate, privateKey: offlineKey } = offline
    await owner.organizations.setOfflineCertificate(id, { certificate: offlineCertificate, privateKey: offlineKey })
    assert.deepInclude(await owner.organizations.getOfflineCertificate(id), { serialNumber: "0A", state: "valid" })
    await owner.organizations.deleteOfflineCertificate(id)
    assert.isFalse((await owner.organizations.getOfflineCertificate(id)).present)
    await owner.organizations.deleteGatewayCredential(id)
    assert.isFalse((await owner.organizations.get(id)).gatewayCredential.present)
    assert.isFalse((await owner.organizations.getGatewayCredential(id)).present)
    assert.includeMembers(
      (await all(owner.organizations.list())).map(({ id }) => id),
      [id, organization.id]
    )
  })

  it("lists across pages", async () => {
    const stranger = await signUp()
    const made: Array<string> = []
    for (const name of ["a", "b", "c"]) made.unshift((await stranger.organizations.create({ name })).id)
    const listed = await all(stranger.organizations.list({ limit: 1 }))
    assert.deepStrictEqual(
      listed.map(({ id }) => id),
      made
    )
  })

  it("creates, lists and revokes API keys, with immediate effect", async () => {
    const key = await owner.apiKeys.create(organization.id, { mode: "test", expiresAt: "2099-01-01T00:00:00Z" })
    assert.strictEqual(key.expiresAt, "2099-01-01T00:00:00.000Z")
    const other = createClient({ apiKey: key.secret, baseUrl: service.baseUrl })
    assert.strictEqual((await other.me()).id, key.id)
    await owner.apiKeys.revoke(key.id)
    assert.strictEqual((await failure(other.me())).code, "missing_api_key")
    assert.notInclude(
      (await all(owner.apiKeys.list(organization.id))).map(({ id }) => id),
      key.id
    )
  })

  it("creates, changes, rotates and deletes webhook endpoints, and lists their deliveries", async () => {
    const input = { url: "http://127.0.0.1:9/hooks", eventTypes: ["*"], description: "a" } as const
    const made = await owner.webhookEndpoints.create(organization.id, input)
    assert.match(made.secret, /^whsec_/)
    assert.deepStrictEqual(made.eventTypes, ["*"])
    const invoice = await client.invoices.submitAndWait({ invoiceXml })

    const [delivery] = await all(owner.deliveries.list(made.id, { limit: 2 }))
    assert.strictEqual(delivery?.endpointId, made.id)
    const { eventId } = delivery!
    const ofEvent = await all(owner.deliveries.list(made.id, { eventId }))
    assert.deepStrictEqual(
      ofEvent.map((delivery) => delivery.eventId),
      [eventId]
    )
    const ofInvoice = await all(owner.deliveries.list(made.id, { invoiceId: invoice.id }))
    assert.include(
      ofInvoice.map(({ id }) => id),
      delivery!.id
    )
    const unknown = `${invoice.id.slice(0, -1)}${invoice.id.endsWith("0") ? "1" : "0"}`
    assert.isEmpty(await all(owner.deliveries.list(made.id, { invoiceId: unknown })))
    assert.isEmpty(await all(owner.deliveries.list(made.id, { status: "succeeded" })))

    const changed = await owner.webhookEndpoints.update(made.id, { enabled: false, description: null })
    assert.deepInclude(changed, { enabled: false, description: null, url: input.url })
    const rotated = await owner.webhookEndpoints.rotateSecret(made.id, { activatesInSeconds: 60 })
    assert.notStrictEqual(rotated.secret, made.secret)
    assert.isAbove(Date.parse(rotated.secretActivatesAt), Date.now() + 30_000)
    assert.match((await owner.webhookEndpoints.rotateSecret(made.id)).secret, /^whsec_/)
    assert.strictEqual((await owner.webhookEndpoints.get(made.id)).id, made.id)
    assert.include(
      (await all(owner.webhookEndpoints.list(organization.id))).map(({ id }) => id),
      made.id
    )
    await owner.webhookEndpoints.delete(made.id)
    assert.strictEqual((await failure(owner.webhookEndpoints.get(made.id))).code, "webhook_endpoint_not_found")
  })

  it("lists invoices", async () => {
    const { id } = await client.invoices.submitAndWait({ invoiceXml, sandboxScenario: "rejected" })
    const listed = await all(owner.invoices.list(organization.id, { status: "rejected", mode: "test" }))
    assert.include(
      listed.map((invoice) => invoice.id),
      id
    )
    assert.isTrue(listed.every(({ status }) => status === "rejected"))
  })

  it("refreshes the access token once for concurrent calls", async () => {
    const requests: Array<string> = []
    let stale = false
    const email = `${randomUUID()}@example.com`
    const controlPlane = createControlPlane({
      baseUrl: service.baseUrl,
      onRequest: ({ url }) => requests.push(url.replace(/^.*control-plane/, "")),
      fetch: (url, init) => {
        const { authorization } = init.headers
        // The server treats an expired token like an unknown one.
        const headers =
          authorization !== undefined && stale ? { ...init.headers, authorization: "Bearer old" } : init.headers
        if (url.endsWith("/refresh")) stale = false
        return fetch(url, { ...init, headers })
      }
    })
    await controlPlane.accounts.create({ email, password })
    await controlPlane.login({ email, password })
    stale = true
    requests.length = 0
    const accounts = await Promise.all([1, 2, 3, 4, 5].map(() => controlPlane.accounts.get()))
    assert.isTrue(accounts.every((account) => account.email === email))
    assert.strictEqual(requests.filter((path) => path === "/auth/refresh").length, 1)
  })

  it("fails with missing_access_token after a logout and without a login", async () => {
    const controlPlane = await signUp()
    await controlPlane.logout()
    await controlPlane.logout()
    assert.strictEqual((await failure(controlPlane.accounts.get())).code, "missing_access_token")
    const email = `${randomUUID()}@example.com`
    const wrong = await failure(controlPlane.login({ email, password }))
    assert.strictEqual(wrong.code, "invalid_credentials")
    assert.notInclude(JSON.stringify(Object.entries(wrong)) + wrong.stack, password)
  })
})
