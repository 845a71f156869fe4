/** The credential of an organization for the national system, over HTTP: what is refused, what is shown, and to whom. */
import { createPrivateKey } from "node:crypto"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { createMigrated } from "../support/databases.ts"
import { startSimulator } from "../../packages/ksef-simulator/src/index.ts"
import { fa3 } from "../../apps/server/test/support/live.ts"
import { makePair } from "../../packages/ksef/test/support/certificates.ts"
import { type Answer, problemOf } from "./support/agreement.ts"
import { makeCall, readAgreement, signUp, submit, type Tenant, until } from "./support/client.ts"
import { secrets, type Server, startServer } from "./support/server.ts"

const codeOf = (answer: Answer): string => (answer.status < 400 ? String(answer.status) : problemOf(answer).code)

const nip = "5265877635"
const pair = makePair({ key: "P-256" })
const certificate = {
  type: "certificate",
  certificate: pair.certificate,
  private_key: pair.privateKey,
  context: { type: "Nip", value: nip }
}
const token = `20261122-EC-1234567890-ABCDEF0123-45|nip-${nip}|${"0a".repeat(32)}`

const encryptedCertificate = (password: string | undefined) => ({
  ...certificate,
  private_key: createPrivateKey(pair.privateKey)
    .export({ type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase: "secret" })
    .toString(),
  ...(password === undefined ? {} : { private_key_password: password })
})

describe("the deletion of a gateway credential", () => {
  it("ends its login at KSeF", async () => {
    const database = await createMigrated()
    const simulator = await startSimulator({ processingMs: 0 })
    const settings = { GOVOICE_LIVE_MODE: "true", GOVOICE_KSEF_URL: simulator.url }
    const server = await startServer({ DATABASE_URL: database.url, ...secrets, ...settings })
    try {
      const call = makeCall(() => server.url, await readAgreement(server.url))
      const { liveKey, organizationId, token: auth } = await signUp(call)
      const path = `/v1/control-plane/organizations/${organizationId}/gateway-credential`
      const body = { token: simulator.token, context: { type: "Nip", value: simulator.nip } }
      assert.strictEqual((await call("PUT", path, { auth, body })).status, 204)
      const submitted = await submit(call, liveKey, {
        body: { invoice_xml: fa3({ number: "FV/1", seller: simulator.nip }) }
      })
      assert.strictEqual(submitted.status, 201, submitted.text)
      const { id } = submitted.json as { readonly id: string }
      await until(
        () => call("GET", `/v1/invoices/${id}`, { auth: liveKey }),
        ({ json }) => (json as { readonly status: string }).status === "accepted"
      )
      const ended = () =>
        simulator.ledger.calls().filter(({ method, path }) => method === "DELETE" && /\/auth\//.test(path))
      assert.lengthOf(ended(), 0)
      assert.strictEqual((await call("DELETE", path, { auth })).status, 204)
      assert.deepStrictEqual(
        ended().map(({ status }) => status),
        [204]
      )
    } finally {
      await server.stop()
      await simulator.close()
      await database.drop()
    }
  })
})

describe("the gateway credential", () => {
  let database: Awaited<ReturnType<typeof createMigrated>>
  let server: Server
  let call: ReturnType<typeof makeCall>
  let owner: Tenant
  let path: string

  beforeAll(async () => {
    database = await createMigrated()
    server = await startServer({ DATABASE_URL: database.url, ...secrets, GOVOICE_KSEF_ENVIRONMENT: "demo" })
    call = makeCall(() => server.url, await readAgreement(server.url))
    owner = await signUp(call)
    path = `/v1/control-plane/organizations/${owner.organizationId}/gateway-credential`
  })
  afterAll(async () => {
    await server?.stop()
    await database?.drop()
  })

  const put = (body: unknown) => call("PUT", path, { auth: owner.token, body })
  const get = async () => (await call("GET", path, { auth: owner.token })).json as Record<string, unknown>

  const absent = {
    object: "gateway_credential",
    present: false,
    type: null,
    context: null,
    environment: null,
    expires_at: null,
    state: null,
    checked_at: null,
    refusal: null,
    updated_at: null
  }

  it("is described without its secrets, by its kind, and absent after its deletion", async () => {
    assert.deepStrictEqual(await get(), absent)
    const encrypted = createPrivateKey(pair.privateKey)
      .export({ type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase: "secret" })
      .toString()
    for (const [body, type, expiresAt] of [
      [{ token, context: { type: "Nip", value: nip } }, "ksef_token", null],
      [{ type: "ksef_token", token, context: { type: "Nip", value: nip }, expires_at: null }, "ksef_token", null],
      [
        { type: "ksef_token", token, context: { type: "Nip", value: nip }, expires_at: "2100-01-01T00:00:00Z" },
        "ksef_token",
        "2100-01-01T00:00:00.000Z"
      ],
      [certificate, "certificate", "certificate"],
      [{ ...certificate, private_key: encrypted, private_key_password: "secret" }, "certificate", "certificate"]
    ] as const) {
      assert.strictEqual((await put(body)).status, 204)
      const { expires_at, updated_at, ...shown } = await get()
      assert.deepStrictEqual(shown, {
        object: "gateway_credential",
        present: true,
        type,
        context: { type: "Nip", value: nip },
        environment: "demo",
        state: "unchecked",
        checked_at: null,
        refusal: null
      })
      assert.strictEqual(typeof updated_at, "string")
      if (expiresAt === "certificate") assert.isAbove(Date.parse(String(expires_at)), Date.now())
      else assert.strictEqual(expires_at, expiresAt)
    }
    assert.strictEqual((await call("DELETE", path, { auth: owner.token })).status, 204)
    assert.deepStrictEqual(await get(), absent)
  })

  it("is of a unit, or of a taxpayer with an entity of the EU", async () => {
    const unit = { type: "InternalId", value: `${nip}-12346` }
    const foreign = { type: "NipVatUe", value: `${nip}-DE123456789` }
    for (const [body, context] of [
      [{ token: token.replace(`nip-${nip}`, `internalId-${unit.value}`), context: unit }, unit],
      [{ ...certificate, context: unit }, unit],
      [{ ...certificate, context: foreign }, foreign]
    ] as const) {
      assert.strictEqual((await put(body)).status, 204)
      assert.deepStrictEqual((await get())["context"], context)
    }
    assert.strictEqual((await call("DELETE", path, { auth: owner.token })).status, 204)
  })

  const other = makePair({ key: "P-256", keyUsage: ["nonRepudiation"] })
  const old = makePair({ key: "P-256", from: 0, until: Date.parse("2026-01-01T00:00:00Z") })
  const rsa = makePair()
  it.each<[what: string, body: object, param: string, message: RegExp]>([
    [
      "an unknown type",
      { type: "seal", token, context: { type: "Nip", value: nip } },
      "type",
      /"ksef_token" or "certificate"/
    ],
    ["nothing", {}, "token", /^token is missing\.$/],
    ["a certificate without a key", { type: "certificate", certificate: "x" }, "private_key", /is missing/],
    [
      "a token of another taxpayer",
      { token, context: { type: "Nip", value: "1111111111" } },
      "context",
      /must be Nip 5265877635/
    ],
    [
      "a token of another context of the taxpayer",
      { token, context: { type: "InternalId", value: `${nip}-12346` } },
      "context",
      /^context must be Nip 5265877635, which the token was issued for\.$/
    ],
    [
      "a token for a context in which there are none",
      { token, context: { type: "NipVatUe", value: `${nip}-DE123456789` } },
      "context",
      /KSeF issues no tokens for NipVatUe\. Store a certificate\.$/
    ],
    ["a context that is a NIP alone", { token, context: nip }, "context", /^context must be an object\.$/],
    ["a context of an unknown type", { token, context: { type: "Pesel", value: "1" } }, "context", /"NipVatUe"\.$/],
    [
      "a unit with a wrong check digit",
      { token, context: { type: "InternalId", value: `${nip}-12345` } },
      "context",
      /^context\.value must be an internal identifier: .* as 5265877635-12346\.$/
    ],
    [
      "a VAT number of no country",
      { token, context: { type: "NipVatUe", value: `${nip}-123456789` } },
      "context",
      /^context\.value must be a NIP, a hyphen and a VAT number .* as 5265877635-DE123456789\.$/
    ],
    [
      "a token with a line break after it",
      { token: `${token}\n`, context: { type: "Nip", value: nip } },
      "token",
      /white space/
    ],
    [
      "a token of characters with several bytes, which no login can encrypt",
      { token: "ż".repeat(160), context: { type: "Nip", value: nip } },
      "token",
      /ASCII/
    ],
    [
      "a token that is too long",
      { token: "x".repeat(161), context: { type: "Nip", value: nip } },
      "token",
      /1 to 160 characters/
    ],
    [
      "a token that expired",
      { token, context: { type: "Nip", value: nip }, expires_at: "2020-01-01T00:00:00Z" },
      "expires_at",
      /future/
    ],
    ["no certificate", { ...certificate, certificate: "x" }, "certificate", /not a PEM certificate/],
    ["no key", { ...certificate, private_key: "x" }, "private_key", /not a PEM key/],
    ["a key of another certificate", { ...certificate, private_key: rsa.privateKey }, "private_key", /does not belong/],
    ["a password that is wrong", encryptedCertificate("wrong"), "private_key_password", /password .*wrong/],
    ["a password that is missing", encryptedCertificate(undefined), "private_key_password", /Give its password/],
    [
      "a certificate that expired",
      { ...certificate, certificate: old.certificate },
      "certificate",
      /expired at 2026-01-01/
    ],
    [
      "an Offline certificate",
      { ...certificate, certificate: other.certificate },
      "certificate",
      /Offline.*Authentication/
    ],
    [
      "a certificate and a key of more than 16 KiB",
      { ...certificate, certificate: pair.certificate.padEnd(16_300) },
      "certificate",
      /16 KiB/
    ]
  ])("is refused: %s", async (_, body, param, message) => {
    const answer = await put(body)
    assert.strictEqual(codeOf(answer), "invalid_parameter", answer.text)
    assert.strictEqual(problemOf(answer).param, param)
    assert.match(problemOf(answer).message, message)
    assert.notMatch(answer.text, /0a0a|PRIVATE KEY|CERTIFICATE/)
    assert.deepStrictEqual(await get(), absent)
  })

  it("is refused with a member of the other kind", async () => {
    for (const [body, param] of [
      [{ ...certificate, token }, "token"],
      [{ token, context: { type: "Nip", value: nip }, private_key: pair.privateKey }, "private_key"]
    ] as const) {
      const answer = await put(body)
      assert.strictEqual(codeOf(answer), "unknown_parameter")
      assert.strictEqual(problemOf(answer).param, param)
    }
  })

  it("belongs to its account", async () => {
    assert.strictEqual((await put(certificate)).status, 204)
    const before = await get()
    const stranger = await signUp(call)
    for (const [method, body] of [
      ["GET"],
      ["DELETE"],
      ["PUT", { token, context: { type: "Nip", value: nip } }]
    ] as const) {
      const answer = await call(method, path, { auth: stranger.token, ...(body === undefined ? {} : { body }) })
      assert.strictEqual(codeOf(answer), "organization_not_found")
    }
    assert.deepStrictEqual(await get(), before)
  })
})
