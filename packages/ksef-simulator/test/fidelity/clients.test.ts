/**
 * Two clients that others wrote, against the simulator: log in, open a session, send, close, fetch a UPO.
 */
import { KsefClient } from "ksef-client"
import { KSeFClient, openOnlineSession } from "ksef-client-ts"
import { assert, describe, it } from "vitest"
import { fa3 } from "../support/invoices.ts"
import { start } from "../support/simulator.ts"

const poll = { pollIntervalMs: 20, maxAttempts: 100 }

describe("ksef-client", () => {
  it("logs in with a token, sends, closes, fetches", async () => {
    const simulator = await start({ processingMs: 50 })
    const client = new KsefClient({ baseUrl: simulator.url })
    const tokens = await client.workflows.auth.authenticateWithKsefToken({
      token: simulator.token,
      context: { type: "Nip", value: simulator.nip },
      ...poll
    })
    client.authManager.setTokens(tokens)
    const session = await client.workflows.sessions.online.open({
      formCode: { systemCode: "FA (3)", schemaVersion: "1-0E", value: "FA" }
    })
    await session.sendInvoice({ invoice: fa3() })
    await simulator.idle()
    await session.close()
    const upo = await session.waitForUpo(poll)
    assert.isOk(upo)
    assert.lengthOf(simulator.ledger.accepted(), 1)
  })
})

describe("ksef-client-ts", () => {
  it.each(["token", "certificate"] as const)("logs in (%s), sends, closes, fetches", async (method) => {
    const simulator = await start({ processingMs: 50 })
    const client = new KSeFClient({ baseUrl: new URL(simulator.url).origin })
    await client.crypto.init()
    const { certificate, privateKey } = simulator.certificate
    if (method === "token") await client.loginWithToken(simulator.token, simulator.nip)
    else await client.loginWithCertificate(certificate, privateKey, simulator.nip)
    const session = await openOnlineSession(client)
    await session.sendInvoice(fa3())
    await simulator.idle()
    await session.close()
    const upo = await session.waitForUpoParsed({ intervalMs: 50 })
    assert.lengthOf(upo.pages, 1)
    assert.strictEqual(upo.successfulInvoiceCount, 1)
  })
})
