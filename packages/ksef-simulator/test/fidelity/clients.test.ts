/**
 * Two clients that others wrote, against the simulator: log in, open a session, send, close, fetch a UPO.
 */
import { KsefClient, XadesKeyPair } from "ksef-client"
import { KSeFClient, openOnlineSession } from "ksef-client-ts"
import { assert, describe, it } from "vitest"
import type { Simulator } from "../../src/startSimulator.ts"
import { fa3 } from "../support/invoices.ts"
import { start } from "../support/simulator.ts"

const poll = { pollIntervalMs: 20, maxAttempts: 100 }

describe("ksef-client", () => {
  const keyPairOf = ({ certificate }: Simulator) =>
    XadesKeyPair.fromPem({ certificatePem: certificate.certificate, privateKeyPem: certificate.privateKey })

  it.each(["token", "certificate"] as const)("logs in (%s), sends, closes, fetches", async (method) => {
    const simulator = await start()
    const client = new KsefClient({ baseUrl: simulator.url })
    const context = { type: "Nip", value: simulator.nip } as const
    const tokens =
      method === "token"
        ? await client.workflows.auth.authenticateWithKsefToken({ token: simulator.token, context, ...poll })
        : await client.workflows.auth.authenticateWithCertificate({
            keyPair: keyPairOf(simulator),
            context,
            verifyCertificateChain: true,
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
    assert.include(String(upo), simulator.ledger.accepted()[0]!.ksefNumber)
    assert.lengthOf(simulator.ledger.accepted(), 1)
  })

  it("treats a session that is closed and not processed yet as failed", async () => {
    const simulator = await start()
    simulator.faults.add({ do: "stuck-150" })
    const client = new KsefClient({ baseUrl: simulator.url })
    const context = { type: "Nip", value: simulator.nip } as const
    const { token } = simulator
    client.authManager.setTokens(await client.workflows.auth.authenticateWithKsefToken({ token, context, ...poll }))
    const formCode = { systemCode: "FA (3)", schemaVersion: "1-0E", value: "FA" } as const
    const session = await client.workflows.sessions.online.open({ formCode })
    await session.sendInvoice({ invoice: fa3() })
    await session.close()
    const error = await session.waitForUpo(poll).then(String, String)
    assert.include(error, "Session failed: 170 Sesja interaktywna zamknięta")
  })

  it("is refused with 21401 for its enveloping signature, which has an attribute that the schema does not allow", async () => {
    const simulator = await start()
    const client = new KsefClient({ baseUrl: simulator.url })
    const login = client.workflows.auth.authenticateWithCertificate({
      keyPair: keyPairOf(simulator),
      context: { type: "Nip", value: simulator.nip },
      signaturePackaging: "enveloping",
      ...poll
    })
    const error = await login.then(
      () => undefined,
      (thrown: unknown) => thrown
    )
    const body = JSON.stringify(error)
    assert.include(body, "21401")
    assert.include(body, "The attribute 'Id' is not allowed")
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
