/**
 * The effects of faults of documents, sessions, logins, keys and receipts on a client.
 */
import { assert } from "vitest"
import type { FaultName } from "../../src/faults/Fault.ts"
import { Client, codes, sha256 } from "../support/Client.ts"
import { fa3 } from "../support/invoices.ts"
import { manualTime } from "../support/simulator.ts"
import { batchOfOne, type Cases, lastCall, opening, ready } from "./scene.ts"

export const outcomeCases = {
  "stuck-150": {
    "keeps a document pending for so many answers": async () => {
      const { client, session, simulator } = await ready()
      simulator.faults.add({ do: "stuck-150", polls: 3 })
      const { referenceNumber } = (await client.send(session, fa3())).json
      await simulator.idle()
      const seen: Array<number> = []
      for (let poll = 0; poll < 5; poll++) {
        const { json } = await client.call("GET", `/sessions/${session.reference}/invoices/${referenceNumber}`)
        seen.push(json.status.code)
      }
      assert.deepStrictEqual(seen, [150, 150, 150, 200, 200])
    },
    "holds its session at 170 until the fault is removed, and the verdict was there all along": async () => {
      const { client, session, simulator } = await ready()
      const fault = simulator.faults.add({ do: "stuck-150" })
      await client.send(session, fa3())
      await simulator.idle()
      await client.close(session)
      const status = async () => (await client.call("GET", `/sessions/${session.reference}`)).json.status.code
      assert.strictEqual(await status(), 170)
      simulator.faults.remove(fault)
      assert.strictEqual(await status(), 200)
    }
  },
  verdict: {
    "ends a document with its code, and takes no number": async () => {
      const { client, session, simulator } = await ready()
      for (const code of [405, 410, 415, 430, 435, 450, 500, 550]) {
        simulator.faults.add({ do: "verdict", code, details: [`as ${code}`] })
        const { status } = await client.submit(session, fa3())
        assert.deepStrictEqual([status.code, status.details], [code, [`as ${code}`]])
      }
      assert.isEmpty(simulator.ledger.accepted())
      assert.strictEqual((await client.submit(session, fa3())).status.code, 200)
    },
    "ends a session with its code": async () => {
      const { client, session, simulator } = await ready()
      await client.submit(session, fa3())
      simulator.faults.add({ do: "verdict", code: 415, on: "session" })
      await client.close(session)
      const { status, upo } = await client.sessionStatus(session.reference)
      assert.strictEqual(status.code, 415)
      assert.isUndefined(upo)
    },
    "ends a login with its code": async () => {
      const { client, simulator } = await ready()
      for (const code of [415, 425, 450, 470, 480, 500, 550]) {
        simulator.faults.add({ do: "verdict", code, on: "login" })
        await client.beginTokenLogin(simulator.token, simulator.nip)
        assert.strictEqual((await client.loginStatus()).code, code)
        assert.deepStrictEqual(codes(await client.redeem()), [21301])
      }
    }
  },
  "440": {
    "names another copy, whose content is the same or not": async () => {
      const { client, session, simulator } = await ready()
      for (const original of ["matching", "other-hash"] as const) {
        simulator.faults.add({ do: "440", original })
        const document = fa3({ number: original })
        const { status } = await client.submit(session, document)
        assert.strictEqual(status.code, 440)
        const { originalKsefNumber, originalSessionReferenceNumber } = status.extensions!
        await new Promise((resolve) => setTimeout(resolve, 1050))
        const copy = await client.call("GET", `/invoices/ksef/${originalKsefNumber}`)
        assert.strictEqual(copy.headers.get("x-ms-meta-hash") === sha256(document), original === "matching")
        const listed = await client.call("GET", `/sessions/${originalSessionReferenceNumber}/invoices`)
        assert.strictEqual(listed.json.invoices[0]?.ksefNumber, originalKsefNumber)
      }
    },
    "has no extensions, or those of another session": async () => {
      const { client, session, simulator } = await ready()
      simulator.faults.add({ do: "440", extensions: "none" })
      assert.isUndefined((await client.submit(session, fa3({ number: "1" }))).status.extensions)
      simulator.faults.add({ do: "440", extensions: "wrong-session" })
      const { status } = await client.submit(session, fa3({ number: "2" }))
      const { originalKsefNumber, originalSessionReferenceNumber } = status.extensions!
      const path = `/sessions/${originalSessionReferenceNumber}/invoices/ksef/${originalKsefNumber}/upo`
      assert.deepStrictEqual(codes(await client.call("GET", path)), [21178])
    }
  },
  "415-after-rotation": {
    "takes the old key, and ends the session as 415": async () => {
      const { client, simulator } = await ready()
      const open = await opening(client)
      simulator.faults.add({ do: "415-after-rotation" })
      const { referenceNumber } = (await open()).json
      assert.strictEqual((await client.sessionStatus(referenceNumber)).status.code, 415)
      const fresh = await client.open()
      assert.strictEqual((await client.submit(fresh, fa3())).status.code, 200)
    }
  },
  "rotate-keys": {
    "planned: new keys stand beside old ones, which go on working": async () => {
      const { client, simulator } = await ready()
      const open = await opening(client)
      const before = await client.publicKey("SymmetricKeyEncryption")
      await simulator.faults.apply({ do: "rotate-keys" })
      const after = await client.publicKey("SymmetricKeyEncryption")
      assert.notStrictEqual(after.id, before.id)
      const listed = (await client.call("GET", "/security/public-key-certificates")).json as unknown as Array<unknown>
      assert.lengthOf(listed, 4)
      const { referenceNumber } = (await open()).json
      const status = (await client.call("GET", `/sessions/${referenceNumber}`)).json.status
      assert.strictEqual(status.code, 100)
    },
    "emergency: the old ids are refused with 21470, for sessions and logins": async () => {
      const { client, simulator } = await ready()
      const open = await opening(client)
      simulator.faults.add({ do: "rotate-keys", rotation: "emergency" })
      assert.deepStrictEqual(codes(await open()), [21470])
      const listed = (await client.call("GET", "/security/public-key-certificates")).json as unknown as Array<unknown>
      assert.lengthOf(listed, 2)
      assert.strictEqual((await client.submit(await client.open(), fa3())).status.code, 200)
    }
  },
  "expire-access": {
    "ends all access tokens of the context, and no refresh token": async () => {
      const { client, simulator } = await ready()
      const other = await Client.login(simulator)
      const stranger = await Client.login(simulator, simulator.issueToken({ context: "5260250274" }), "5260250274")
      simulator.faults.add({ do: "expire-access" })
      await client.call("POST", "/auth/challenge", { token: "" })
      assert.strictEqual((await client.call("GET", "/rate-limits")).status, 401)
      assert.strictEqual((await other.call("GET", "/rate-limits")).status, 401)
      assert.strictEqual((await stranger.call("GET", "/rate-limits")).status, 200)
      await new Promise((resolve) => setTimeout(resolve, 5))
      client.access = (
        await client.call("POST", "/auth/token/refresh", { token: client.refresh })
      ).json.accessToken.token
      assert.strictEqual((await client.call("GET", "/rate-limits")).status, 200)
    }
  },
  "revoke-token": {
    "ends the refresh token and later logins with the KSeF token": async () => {
      const { client, simulator } = await ready()
      simulator.faults.add({ do: "revoke-token" })
      assert.strictEqual((await client.call("GET", "/rate-limits")).status, 200)
      assert.deepStrictEqual(
        codes(await client.call("POST", "/auth/token/refresh", { token: client.refresh })),
        [21301]
      )
      await client.beginTokenLogin(simulator.token, simulator.nip)
      assert.deepStrictEqual((await client.loginStatus()).details, ["Token unieważniony"])
    }
  },
  "block-403": {
    "answers as the firewall does, for so long": async () => {
      const time = manualTime()
      const { client, simulator } = await ready({ now: time.now })
      simulator.faults.add({ do: "block-403", ms: 5000, context: simulator.nip })
      const stranger = await Client.login(simulator, simulator.issueToken({ context: "5260250274" }), "5260250274")
      for (const _ of [1, 2]) {
        const answer = await client.call("GET", "/rate-limits")
        assert.deepStrictEqual([answer.status, answer.json.title], [403, "Request blocked"])
        assert.isUndefined(answer.json.reasonCode)
        assert.strictEqual(lastCall(simulator).fault, "block-403")
      }
      assert.strictEqual((await stranger.call("GET", "/rate-limits")).status, 200)
      time.move(5000)
      assert.strictEqual((await client.call("GET", "/rate-limits")).status, 200)
    }
  },
  "upo-late": {
    "there is no UPO yet by the API, while the link has it": async () => {
      const { client, session, simulator } = await ready()
      const invoice = await client.submit(session, fa3())
      simulator.faults.add({ do: "upo-late" })
      const path = `/sessions/${session.reference}/invoices/${invoice.referenceNumber}/upo`
      assert.deepStrictEqual(codes(await client.call("GET", path)), [21178])
      assert.strictEqual((await fetch(invoice.upoDownloadUrl!)).status, 200)
      assert.strictEqual((await client.call("GET", path)).status, 200)
    }
  },
  "upo-html": {
    "the link answers 200 with a page, while the API has the UPO": async () => {
      const { client, session, simulator } = await ready()
      const invoice = await client.submit(session, fa3())
      simulator.faults.add({ do: "upo-html" })
      const linked = await fetch(invoice.upoDownloadUrl!)
      assert.deepStrictEqual([linked.status, linked.headers.get("content-type")], [200, "text/html"])
      assert.deepInclude(lastCall(simulator), { operation: "downloadUpo", fault: "upo-html" })
      assert.match(await (await fetch(invoice.upoDownloadUrl!)).text(), /<Potwierdzenie /)
    }
  },
  "session-gone": {
    "the session is found no more, and its documents stay accepted": async () => {
      const { client, session, simulator } = await ready()
      await client.submit(session, fa3())
      simulator.faults.add({ do: "session-gone" })
      assert.deepStrictEqual(codes(await client.send(session, fa3({ number: "2" }))), [21173])
      assert.deepStrictEqual(codes(await client.call("GET", `/sessions/${session.reference}`)), [21173])
      assert.lengthOf(simulator.ledger.accepted(), 1)
      assert.strictEqual((await client.submit(await client.open(), fa3())).status.code, 440)
    }
  },
  "close-lost": {
    "answers 504, and leaves the session open": async () => {
      const { client, session, simulator } = await ready()
      simulator.faults.add({ do: "close-lost" })
      assert.strictEqual((await client.close(session)).status, 504)
      assert.strictEqual((await client.close(session)).status, 204)
    },
    "or closes it, if it says so: batches were processed although their close had failed": async () => {
      const { client, simulator } = await ready()
      const { reference, send } = await batchOfOne(client)
      await send()
      simulator.faults.add({ do: "close-lost", committed: true })
      assert.strictEqual((await client.close({ reference }, "batch")).status, 504)
      assert.deepStrictEqual(codes(await client.close({ reference }, "batch")), [21180])
      assert.isAtLeast((await client.sessionStatus(reference)).status.code, 200)
    }
  },
  "token-login-ends": {
    "refuses logins with tokens from then on, and none with certificates": async () => {
      const { client, simulator } = await ready()
      simulator.faults.add({ do: "token-login-ends" })
      for (const _ of [1, 2]) {
        const answer = await client.beginTokenLogin(simulator.token, simulator.nip)
        assert.deepStrictEqual([answer.status, answer.json.reasonCode], [403, "auth-method-not-allowed"])
      }
      const answer = await client.beginCertificateLogin(() => "<a/>")
      assert.deepStrictEqual(codes(answer), [9102])
    }
  }
} as const satisfies Partial<Record<FaultName, Cases>>
