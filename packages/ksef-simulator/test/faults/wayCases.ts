/**
 * The effects of faults on the way to an operation on a client.
 */
import { assert } from "vitest"
import type { FaultName } from "../../src/faults/Fault.ts"
import { Client, codes, sha256 } from "../support/Client.ts"
import { fa3 } from "../support/invoices.ts"
import { start } from "../support/simulator.ts"
import { batchOfOne, type Cases, isCut, lastCall, opening, ready } from "./scene.ts"

export const wayCases = {
  "429": {
    "answers with Retry-After, in both formats, and counts as no call over a limit": async () => {
      const { client, simulator } = await ready()
      simulator.faults.add({ do: "429", on: "getRateLimits", retryAfter: 7, times: 2 })
      const older = await client.call("GET", "/rate-limits")
      assert.deepStrictEqual([older.status, older.headers.get("retry-after")], [429, "7"])
      assert.strictEqual(older.json.status.code, 429)
      const newer = await client.call("GET", "/rate-limits", { headers: { "x-error-format": "problem-details" } })
      assert.strictEqual(newer.json.title, "Too Many Requests")
      assert.strictEqual((await client.call("GET", "/rate-limits")).status, 200)
      assert.strictEqual(simulator.ledger.overLimit, 0)
    }
  },
  "5xx": {
    "answers with JSON and the status, and does nothing": async () => {
      const { client, session, simulator } = await ready()
      simulator.faults.add({ do: "5xx", on: "sendInvoice" })
      simulator.faults.add({ do: "5xx", on: "sendInvoice", status: 500 })
      const first = await client.send(session, fa3())
      assert.deepStrictEqual([first.status, first.json.exception?.exceptionDetailList[0]?.exceptionCode], [503, 503])
      assert.strictEqual((await client.send(session, fa3())).status, 500)
      await simulator.idle()
      assert.isEmpty(simulator.ledger.accepted())
    }
  },
  html: {
    "answers with a page, with status 200 too, and does nothing": async () => {
      const { client, session, simulator } = await ready()
      simulator.faults.add({ do: "html", on: "sendInvoice" })
      simulator.faults.add({ do: "html", on: "sendInvoice", status: 200 })
      for (const status of [502, 200]) {
        const answer = await client.send(session, fa3())
        assert.strictEqual(answer.status, status)
        assert.strictEqual(answer.headers.get("content-type"), "text/html")
        assert.match(answer.text, /^<html>/)
      }
      await simulator.idle()
      assert.isEmpty(simulator.ledger.accepted())
    }
  },
  "system-warning": {
    "carries out the call, and its answer has the header": async () => {
      const { client, session, simulator } = await ready()
      simulator.faults.add({ do: "system-warning", on: "sendInvoice", message: "Schema FA(3) ends soon." })
      const warned = await client.send(session, fa3())
      assert.deepStrictEqual(
        [warned.status, warned.headers.get("x-system-warning")],
        [202, "[simulated]: Schema FA(3) ends soon."]
      )
      simulator.faults.add({ do: "system-warning", code: "W1", message: "Soon." })
      assert.strictEqual((await client.call("GET", "/rate-limits")).headers.get("x-system-warning"), "[W1]: Soon.")
      assert.isNull((await client.call("GET", "/rate-limits")).headers.get("x-system-warning"))
      assert.throws(
        () => simulator.faults.add({ do: "system-warning", message: "a | b" }),
        /"message".*printable ASCII/
      )
    }
  },
  delay: {
    "answers late, and ends with the simulator": async () => {
      const { client, simulator } = await ready()
      simulator.faults.add({ do: "delay", ms: 300, on: "getRateLimits" })
      const begin = performance.now()
      assert.strictEqual((await client.call("GET", "/rate-limits")).status, 200)
      assert.isAtLeast(performance.now() - begin, 290)
      simulator.faults.add({ do: "delay", ms: 600_000, on: "getRateLimits" })
      const waiting = isCut(client.call("GET", "/rate-limits"))
      while (simulator.faults.list().at(-1)?.fired !== 1) await new Promise((resolve) => setTimeout(resolve, 5))
      await simulator.close()
      assert.isTrue(await waiting)
    }
  },
  stall: {
    "never answers, and does nothing": async () => {
      const { client, session, simulator } = await ready()
      simulator.faults.add({ do: "stall", on: "sendInvoice" })
      const waiting = client.send(session, fa3()).then(
        () => "answered",
        () => "cut"
      )
      const timer = new Promise((resolve) => setTimeout(resolve, 300, "waiting"))
      assert.strictEqual(await Promise.race([waiting, timer]), "waiting")
      assert.deepInclude(lastCall(simulator), { operation: "sendInvoice", status: null, fault: "stall" })
      assert.isEmpty(simulator.ledger.accepted())
      await simulator.close()
      assert.strictEqual(await waiting, "cut")
    }
  },
  "drop-before": {
    "cuts the connection of a send that was not taken": async () => {
      const { client, session, simulator } = await ready()
      simulator.faults.add({ do: "drop-before", on: "sendInvoice" })
      assert.isTrue(await isCut(client.send(session, fa3())))
      const listed = await client.call("GET", `/sessions/${session.reference}/invoices`)
      assert.isEmpty(listed.json.invoices)
      assert.strictEqual((await client.submit(session, fa3())).status.code, 200)
    },
    "of an upload leaves the part missing": async () => {
      const { client, simulator } = await ready()
      const { part, reference, send } = await batchOfOne(client)
      simulator.faults.add({ do: "drop-before", on: "uploadPart" })
      assert.isTrue(await isCut(send()))
      assert.deepStrictEqual(codes(await client.close({ reference }, "batch")), [21205])
      assert.strictEqual((await send()).status, 201)
      assert.isAbove(part.length, 0)
    }
  },
  "drop-after": {
    "cuts the connection of a send that was taken: it is listed by its hash, and sending it again ends as 440":
      async () => {
        const { client, session, simulator } = await ready()
        simulator.faults.add({ do: "drop-after", on: "sendInvoice" })
        assert.isTrue(await isCut(client.send(session, fa3())))
        assert.deepInclude(lastCall(simulator), { operation: "sendInvoice", status: null, fault: "drop-after" })
        const listed = await client.call("GET", `/sessions/${session.reference}/invoices`)
        assert.deepStrictEqual(
          listed.json.invoices.map(({ invoiceHash }) => invoiceHash),
          [sha256(fa3())]
        )
        const again = await client.submit(session, fa3())
        assert.strictEqual(again.status.code, 440)
        assert.strictEqual(again.status.extensions?.["originalSessionReferenceNumber"], session.reference)
        assert.lengthOf(simulator.ledger.accepted(), 1)
      },
    "of an opening leaves a session that the client does not know": async () => {
      const { client, simulator } = await ready()
      const open = await opening(client)
      simulator.faults.add({ do: "drop-after", on: "openOnlineSession" })
      assert.isTrue(await isCut(open()))
      const listed = await client.call("GET", "/sessions?sessionType=Online")
      assert.lengthOf(listed.json.sessions, 2)
    },
    "of a redeem leaves a login whose tokens nobody has": async () => {
      const simulator = await start()
      const client = new Client(simulator)
      await client.beginTokenLogin(simulator.token, simulator.nip)
      await client.loginStatus()
      simulator.faults.add({ do: "drop-after", on: "redeemTokens" })
      assert.isTrue(await isCut(client.redeem()))
      assert.deepStrictEqual(codes(await client.redeem()), [21301])
    },
    "of a close leaves the session closed": async () => {
      const { client, session, simulator } = await ready()
      await client.submit(session, fa3())
      simulator.faults.add({ do: "drop-after", on: "closeOnlineSession" })
      assert.isTrue(await isCut(client.close(session)))
      assert.deepStrictEqual(codes(await client.close(session)), [21180])
      assert.strictEqual((await client.sessionStatus(session.reference)).status.code, 200)
    },
    "of an upload leaves the part stored": async () => {
      const { client, simulator } = await ready()
      const { reference, send } = await batchOfOne(client)
      simulator.faults.add({ do: "drop-after", on: "uploadPart" })
      assert.isTrue(await isCut(send()))
      assert.strictEqual((await client.close({ reference }, "batch")).status, 204)
    }
  },
  exception: {
    "answers with its code and its details, in the text of the document": async () => {
      const { client, session, simulator } = await ready()
      simulator.faults.add({ do: "exception", code: 21155, details: ["full"], on: "sendInvoice" })
      simulator.faults.add({ do: "exception", code: 29_999, on: "sendInvoice" })
      const first = await client.send(session, fa3())
      assert.deepStrictEqual(first.json.exception?.exceptionDetailList[0], {
        exceptionCode: 21155,
        exceptionDescription: "Przekroczono dozwoloną liczbę faktur w sesji.",
        details: ["full"]
      } as never)
      assert.deepStrictEqual(codes(await client.send(session, fa3())), [29_999])
    }
  },
  "21184": {
    "refuses a send, and takes the next": async () => {
      const { client, session, simulator } = await ready()
      simulator.faults.add({ do: "21184" })
      assert.deepStrictEqual(codes(await client.send(session, fa3())), [21184])
      assert.strictEqual((await client.submit(session, fa3())).status.code, 200)
    }
  }
} as const satisfies Partial<Record<FaultName, Cases>>
