import { createHash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import type { KsefClient } from "@govoice/ksef/client"
import { Oaep, type PublicKeys, SealedDocument, SessionKey } from "@govoice/ksef/crypto"
import { FormCode, Operation } from "@govoice/ksef/protocol"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as OpenApi from "../protocol/openApi.ts"
import { makePair } from "../support/certificates.ts"
import { type Received, serveHttp, withClient } from "../support/servers.ts"

const pair = makePair()
const publicKey: PublicKeys.PublicKey = { id: createHash("sha256").update("key").digest("base64"), key: pair.publicKey }
const form = FormCode.formCodes["FA (3)"]
const accessToken = Redacted.make("access.jwt")
const reference = "20250625-SO-2C3E6C8000-B675CF5D68-07"
const invoiceReference = "20250625-EE-319D7EE000-B67F415CDC-2C"
const ksefNumber = "5265877635-20250626-010080DD2B5E-26"
const sessionKey = SessionKey.generate()
const document = SealedDocument.seal(sessionKey, Buffer.from("<Faktura/>"))
const challenge = { challenge: "20250625-CR-20F5EE4000-DA48AE4124-46", timestampMs: 1_752_236_636_015 }
const inSession = { accessToken, session: reference }

type Client = KsefClient.KsefClient

/** One call of each operation. */
const calls: Readonly<Record<Operation.Operation, (client: Client) => Effect.Effect<unknown, unknown>>> = {
  publicKeys: (client) => client.publicKeys,
  challenge: (client) => client.challenge,
  loginWithToken: (client) =>
    client.loginWithToken({
      challenge,
      context: { type: "Nip", value: "5265877635" },
      token: Redacted.make("20251010-EC-1DCE3E3000-12ECB5B36E-45|nip-5265877635|0123abcd"),
      publicKey
    }),
  loginWithXades: (client) => client.loginWithXades("<AuthTokenRequest/>"),
  loginStatus: (client) =>
    client.loginStatus({
      referenceNumber: reference,
      authenticationToken: { token: Redacted.make("authentication.jwt"), validUntil: 0 }
    }),
  redeem: (client) => client.redeem(Redacted.make("authentication.jwt")),
  refresh: (client) => client.refresh(Redacted.make("refresh.jwt")),
  revoke: (client) => client.revoke(Redacted.make("refresh.jwt")),
  openOnline: (client) => client.openOnline({ accessToken, form, sessionKey, publicKey }),
  send: (client) => client.send({ ...inSession, document }),
  closeOnline: (client) => client.closeOnline(inSession),
  openBatch: (client) =>
    client.openBatch({ accessToken, form, sessionKey, publicKey, archive: document, parts: [document, document] }),
  closeBatch: (client) => client.closeBatch(inSession),
  sessionStatus: (client) => client.sessionStatus(inSession),
  sessionInvoices: (client) => client.sessionInvoices({ ...inSession, continuationToken: "next", pageSize: 100 }),
  invoiceStatus: (client) => client.invoiceStatus({ ...inSession, invoice: invoiceReference }),
  invoiceUpo: (client) => client.invoiceUpo({ ...inSession, invoice: invoiceReference }),
  invoiceUpoByKsefNumber: (client) => client.invoiceUpoByKsefNumber({ ...inSession, ksefNumber }),
  invoice: (client) => client.invoice({ accessToken, ksefNumber }),
  contextLimits: (client) => client.contextLimits(accessToken),
  rateLimits: (client) => client.rateLimits(accessToken)
}

const operations = Object.keys(calls) as ReadonlyArray<Operation.Operation>

const upo = "<Potwierdzenie/>"

/** Answers each operation with the least that the OpenAPI document allows. */
const serve = () =>
  serveHttp((response, request) => {
    const found = operations.find((name) => matches(request, Operation.operations[name]))
    if (found === undefined) return response.writeHead(404).end()
    const { method, path, success } = Operation.operations[found]
    const content = OpenApi.operationAt(method, path)!.responses[success]!.content ?? {}
    if ("application/json" in content) {
      return response.writeHead(success).end(JSON.stringify(OpenApi.answers(method, path).most))
    }
    if ("application/xml" in content) {
      const hash = createHash("sha256").update(upo).digest("base64")
      return response.writeHead(success, { "x-ms-meta-hash": hash }).end(upo)
    }
    return response.writeHead(success).end()
  })

const matches = (request: Received, { method, path }: Operation.Definition): boolean => {
  const pattern = new RegExp(`^/v2${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`)
  return request.method === method && pattern.test(request.path.split("?")[0]!)
}

const sent = async (operation: Operation.Operation, baseUrl = "/v2"): Promise<Received> => {
  const server = await serve()
  const { result } = await withClient({ url: `http://127.0.0.1:${server.port}${baseUrl}` }, (client) =>
    Effect.mapError(calls[operation](client), (error) => error as never)
  )
  if (operation !== "rateLimits")
    assert.isTrue(Result.isSuccess(result), String(Result.isFailure(result) && result.failure))
  assert.strictEqual(server.received.length, 1)
  return server.received[0]!
}

const bodyOf = (request: Received): unknown =>
  request.headers["content-type"] === "application/json" ? JSON.parse(request.body.toString()) : undefined

describe("KsefClient", () => {
  it.each(operations)(
    "sends the method, path, query, token and body of the OpenAPI document for %s",
    async (operation) => {
      const request = await sent(operation)
      const { bearer, method, path } = Operation.operations[operation]
      assert.strictEqual(request.method, method)
      assert.isTrue(matches(request, Operation.operations[operation]))
      if (operation === "loginWithXades") {
        assert.strictEqual(request.headers["content-type"], "application/xml")
        assert.strictEqual(request.body.toString(), "<AuthTokenRequest/>")
      } else assert.isUndefined(OpenApi.requestFault(method, path, bodyOf(request)))

      const documented = OpenApi.operationAt(method, path)?.parameters ?? []
      const query = [...new URL(request.path, "http://x").searchParams.keys()]
      const inQuery = documented.filter(({ in: where }) => where === "query")
      assert.includeMembers(
        inQuery.map(({ name }) => name),
        query
      )
      assert.includeMembers(
        query,
        inQuery.filter(({ required }) => required === true).map(({ name }) => name)
      )
      assert.strictEqual(
        request.headers.authorization,
        bearer === "none" ? undefined : `Bearer ${bearer}.jwt`,
        "the token of the operation"
      )
    }
  )

  it.each(operations)("sends its User-Agent with %s, and requests problem details", async (operation) => {
    const { headers } = await sent(operation)
    assert.strictEqual(headers["user-agent"], "Govoice/0.0.0-test")
    assert.strictEqual(headers["x-error-format"], "problem-details")
    assert.match(headers.accept ?? "", /^application\/(json|xml)$/)
    assert.isUndefined(headers["accept-encoding"])
  })

  it("encrypts the token together with the time of the challenge", async () => {
    const request = await sent("loginWithToken")
    const { encryptedToken, publicKeyId } = bodyOf(request) as { encryptedToken: string; publicKeyId: string }
    assert.strictEqual(
      Oaep.decrypt(pair.key, Buffer.from(encryptedToken, "base64"))?.toString(),
      "20251010-EC-1DCE3E3000-12ECB5B36E-45|nip-5265877635|0123abcd|1752236636015"
    )
    assert.strictEqual(publicKeyId, publicKey.id)
  })

  it("sends the sizes and hashes of a document before and after encryption, and the encrypted key", async () => {
    const { encryption } = bodyOf(await sent("openOnline")) as {
      encryption: { encryptedSymmetricKey: string; initializationVector: string }
    }
    const body = bodyOf(await sent("send")) as Record<"encryptedInvoiceContent", string> & Record<string, unknown>
    const key = Oaep.decrypt(pair.key, Buffer.from(encryption.encryptedSymmetricKey, "base64"))!
    const opened = SessionKey.from(key, Buffer.from(encryption.initializationVector, "base64"))
    const encrypted = Buffer.from(body.encryptedInvoiceContent, "base64")
    const plain = opened.decrypt(encrypted)!
    const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("base64")
    assert.strictEqual(plain.toString(), "<Faktura/>")
    assert.deepEqual(body, {
      encryptedInvoiceContent: body.encryptedInvoiceContent,
      offlineMode: false,
      invoiceHash: sha256(plain),
      invoiceSize: plain.length,
      encryptedInvoiceHash: sha256(encrypted),
      encryptedInvoiceSize: encrypted.length
    })
  })

  it("sends the continuation token of a list as a header, and the page size in the query", async () => {
    const request = await sent("sessionInvoices")
    assert.strictEqual(request.headers["x-continuation-token"], "next")
    assert.strictEqual(new URL(request.path, "http://x").searchParams.get("pageSize"), "100")
    const server = await serve()
    await withClient({ url: `http://127.0.0.1:${server.port}/v2` }, (client) => client.sessionInvoices(inSession))
    const [first] = server.received
    assert.isUndefined(first!.headers["x-continuation-token"])
    assert.strictEqual(new URL(first!.path, "http://x").searchParams.get("pageSize"), "1000")
  })

  it("keeps a reference inside of its segment of the path", async () => {
    const server = await serve()
    const url = `http://127.0.0.1:${server.port}/v2`
    await withClient({ url }, (client) => client.sessionStatus({ accessToken, session: "a/../b?c#d%2f" }))
    assert.strictEqual(server.received[0]?.path, "/v2/sessions/a%2F..%2Fb%3Fc%23d%252f")
    for (const session of ["", ".", ".."]) {
      const died = await withClient({ url }, (client) => client.sessionStatus({ accessToken, session })).then(
        () => false,
        () => true
      )
      assert.isTrue(died)
    }
    assert.strictEqual(server.received.length, 1)
  })

  it("requests the check of NIPs only where the environment has this feature", async () => {
    const server = await serve()
    const base = `http://127.0.0.1:${server.port}/v2`
    const open = async (features: ReadonlyArray<string>) => {
      const environment = { name: "test" as const, baseUrl: base, beaconUrl: undefined, features, isPublic: false }
      await withClient({ environment }, (client) => client.openOnline({ accessToken, form, sessionKey, publicKey }))
      return server.received.at(-1)?.headers["x-ksef-feature"]
    }
    assert.strictEqual(await open(["subject-identifier-validation"]), "subject-identifier-validation")
    assert.isUndefined(await open([]))
  })

  it("reads the beacon of its environment, and returns undefined without one", async () => {
    const server = await serveHttp((response) => response.end('{"status":"MAINTENANCE"}'))
    const url = `http://127.0.0.1:${server.port}/v2`
    const { result } = await withClient({ url }, (client) => client.beacon)
    assert.strictEqual(Result.getOrThrow(result)?.status, "MAINTENANCE")
    assert.strictEqual(server.received[0]?.path, "/latarnia/status")
    const environment = { name: "demo" as const, baseUrl: url, beaconUrl: undefined, features: [], isPublic: false }
    assert.isUndefined(Result.getOrThrow((await withClient({ environment }, (client) => client.beacon)).result))
    assert.deepStrictEqual(
      Result.getOrThrow((await withClient({ environment }, (client) => client.beaconMessages)).result),
      []
    )
  })

  it("reads what the beacon has announced", async () => {
    const message = { eventId: 1, category: "FAILURE", type: "FAILURE_START", start: "2026-11-27T10:00:00Z", end: null }
    const server = await serveHttp((response) => response.end(JSON.stringify([{ ...message, title: "Awaria" }])))
    const url = `http://127.0.0.1:${server.port}/v2`
    const { result } = await withClient({ url }, (client) => client.beaconMessages)
    assert.deepStrictEqual(Result.getOrThrow(result), [message])
    assert.strictEqual(server.received[0]?.path, "/latarnia/messages")
  })
})
