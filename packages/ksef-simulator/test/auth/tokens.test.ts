import { LoginDocument, SigningCredential } from "@govoice/ksef/xades"
import * as Result from "effect/Result"
import { assert, describe, it } from "vitest"
import type { Simulator } from "../../src/startSimulator.ts"
import { Client, codes } from "../support/Client.ts"
import { manualTime, start } from "../support/simulator.ts"

const owner = async (simulator: Simulator): Promise<Client> => {
  const credential = Result.getOrThrow(SigningCredential.read(simulator.certificate, simulator.clock.now()))
  const client = new Client(simulator)
  await client.beginCertificateLogin((challenge) =>
    LoginDocument.write(
      { challenge, context: { type: "Nip", value: simulator.nip }, signingTime: simulator.clock.now() },
      credential
    )
  )
  await client.loginStatus()
  await client.redeem()
  return client
}

const create = (client: Client, permissions: ReadonlyArray<string>) =>
  client.call("POST", "/tokens", { body: { permissions, description: "Integracja testowa" } })

describe("tokens", () => {
  it("are pending when created, and then log in with their permissions and no others", async () => {
    const time = manualTime()
    const simulator = await start({ now: time.now, processingMs: 500 })
    const credential = Result.getOrThrow(SigningCredential.read(simulator.certificate, time.now()))
    const client = new Client(simulator)
    await client.beginCertificateLogin((challenge) =>
      LoginDocument.write(
        { challenge, context: { type: "Nip", value: simulator.nip }, signingTime: time.now() },
        credential
      )
    )
    time.move(500)
    await client.redeem()
    const { referenceNumber, token } = (await create(client, ["InvoiceRead"])).json
    assert.match(token, new RegExp(`^${referenceNumber}\\|nip-${simulator.nip}\\|[0-9a-f]{64}$`))
    assert.isAtMost(token.length, 160)
    const status = async () => (await client.call("GET", `/tokens/${referenceNumber}`)).json.status as unknown
    assert.strictEqual(await status(), "Pending")
    const early = new Client(simulator)
    await early.beginTokenLogin(token, simulator.nip)
    time.move(500)
    assert.deepStrictEqual((await early.loginStatus()).details, ["Token nieaktywny"])
    assert.strictEqual(await status(), "Active")
    const user = new Client(simulator)
    await user.beginTokenLogin(token, simulator.nip)
    time.move(500)
    await user.redeem()
    assert.strictEqual((await user.call("GET", "/sessions?sessionType=Online")).status, 403)
    const { body } = await user.encryption()
    const formCode = { systemCode: "FA (3)", schemaVersion: "1-0E", value: "FA" }
    const opened = await user.call("POST", "/sessions/online", { body: { formCode, encryption: body } })
    assert.strictEqual(opened.json.reasonCode, "missing-permissions")
    assert.deepStrictEqual(opened.json.security["presentPermissions"], ["InvoiceRead"])
  })

  it("are created with a certificate only: no token creates another", async () => {
    const simulator = await start()
    const answer = await create(await Client.login(simulator), ["InvoiceRead"])
    assert.deepStrictEqual([answer.status, answer.json.reasonCode], [403, "auth-method-not-allowed"])
  })

  it("are listed newest first, by status and description, in pages", async () => {
    const simulator = await start()
    const client = await owner(simulator)
    const references: Array<string> = []
    for (let index = 0; index < 10; index++) {
      references.unshift((await create(client, ["InvoiceWrite"])).json.referenceNumber)
    }
    await client.call("DELETE", `/tokens/${references[0]}`)
    const list = async (query: string, headers = {}) => (await client.call("GET", `/tokens${query}`, { headers })).json
    const first = await list("?pageSize=10")
    assert.lengthOf(first.tokens, 10)
    const next = await list("?pageSize=10", { "x-continuation-token": first.continuationToken! })
    assert.lengthOf(next.tokens, 1)
    assert.isUndefined(next.continuationToken)
    const revoked = (await list("?status=Revoked")).tokens
    assert.deepStrictEqual(
      revoked.map(({ referenceNumber, status }) => [referenceNumber, status]),
      [[references[0], "Revoked"]]
    )
    assert.lengthOf((await list("?description=INTEGRACJA&status=Active")).tokens, 9)
    assert.isEmpty((await list("?authorIdentifier=0000000000")).tokens)
  })

  it("of another context are not found", async () => {
    const simulator = await start()
    const client = await owner(simulator)
    const stranger = simulator.issueToken({ context: "5260250274" })
    const reference = stranger.split("|")[0]!
    for (const method of ["GET", "DELETE"]) {
      assert.deepStrictEqual(codes(await client.call(method, `/tokens/${reference}`)), [21405], method)
    }
    const listed = (await client.call("GET", "/tokens")).json.tokens
    assert.notInclude(
      listed.map(({ referenceNumber }) => referenceNumber),
      reference
    )
    assert.isDefined(await Client.login(simulator, stranger, "5260250274"))
  })

  it("without the permission to see others see themselves, and may revoke themselves", async () => {
    const simulator = await start()
    const token = simulator.issueToken({ context: simulator.nip, permissions: ["InvoiceWrite"] })
    const client = await Client.login(simulator, token)
    const own = token.split("|")[0]!
    const listed = (await client.call("GET", "/tokens")).json.tokens
    assert.deepStrictEqual(
      listed.map(({ referenceNumber }) => referenceNumber),
      [own]
    )
    const other = simulator.token.split("|")[0]!
    assert.deepStrictEqual(codes(await client.call("GET", `/tokens/${other}`)), [21405])
    assert.deepStrictEqual(codes(await client.call("DELETE", `/tokens/${other}`)), [21405])
    assert.strictEqual((await client.call("DELETE", `/tokens/${own}`)).status, 204)
    const again = new Client(simulator)
    await again.beginTokenLogin(token, simulator.nip)
    assert.deepStrictEqual((await again.loginStatus()).details, ["Token unieważniony"])
  })
})
