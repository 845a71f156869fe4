import { assert, describe, it } from "@effect/vitest"
import { ErrorCodes, InvoiceStatuses, LoginStatuses, Operation, Problem, SessionStatuses } from "@govoice/ksef/protocol"
import * as OpenApi from "./openApi.ts"

const sorted = (numbers: ReadonlyArray<number>) => [...new Set(numbers)].sort((left, right) => left - right)
const keys = (table: Readonly<Record<number, unknown>>) => sorted(Object.keys(table).map(Number))

const operations = Object.entries(Operation.operations) as ReadonlyArray<[Operation.Operation, Operation.Definition]>

describe("the tables and the tables of the OpenAPI document", () => {
  it("have the same statuses of invoices", () => {
    const documented = OpenApi.codes(OpenApi.describe("SessionInvoiceStatusResponse", "status"))
    assert.isAtLeast(documented.length, 12)
    assert.deepStrictEqual(keys(InvoiceStatuses.invoiceStatuses), sorted(documented))
  })

  it("have the same statuses of sessions, by kind", () => {
    const text = OpenApi.describe("SessionStatusResponse", "status")
    const [batch = "", online = ""] = text.split("Sesja interaktywna:")
    assert.include(batch, "Sesja wsadowa:")
    assert.isAtLeast(OpenApi.codes(online).length, 6)
    assert.deepStrictEqual(keys(SessionStatuses.sessionStatuses.batch), sorted(OpenApi.codes(batch)))
    assert.deepStrictEqual(keys(SessionStatuses.sessionStatuses.online), sorted(OpenApi.codes(online)))
  })

  it("have the same statuses of logins, each with its detail where a code has several", () => {
    const documented = OpenApi.rows(OpenApi.describe("AuthenticationOperationStatusResponse", "status")).filter(
      ([code]) => /^\d+$/.test(code ?? "")
    )
    assert.isAtLeast(documented.length, 20)
    const several = new Set(["450", "460"])
    const label = (code: string, detail: string) => (several.has(code) ? `${code} ${detail}` : code)
    assert.sameMembers(
      LoginStatuses.loginStatuses.map(({ code, detail }) => label(String(code), detail ?? "")),
      documented.map(([code = "", , detail = ""]) => label(code, detail.replace(/ \{.*\}$/, "")))
    )
  })

  it.each(operations)("have the same error codes at %s", (operation, { method, path }) => {
    const description = OpenApi.operationAt(method, path)?.responses["400"]?.description ?? ""
    const ours = ErrorCodes.errorCodes.filter(({ at, since }) => at.includes(operation) && since === undefined)
    assert.deepStrictEqual(sorted(ours.map(({ code }) => code)), sorted(OpenApi.codes(description)))
  })

  it("have the same reasons of a 403", () => {
    const documented = OpenApi.rows(OpenApi.describe("ForbiddenProblemDetails", "reasonCode"))
      .map(([reason = ""]) => reason)
      .filter((reason) => /^[a-z]+(-[a-z]+)+$/.test(reason))
    assert.isAtLeast(documented.length, 6)
    assert.sameMembers([...ErrorCodes.forbiddenReasons.keys()], documented)
  })

  it.each(operations)("have the same path, method, success and limits of %s", (_, definition) => {
    const documented = OpenApi.operationAt(definition.method, definition.path)
    assert.isDefined(documented)
    assert.property(documented.responses, String(definition.success))
    const [limits = []] = OpenApi.rows(documented.responses["429"]?.description ?? "").filter(([name]) =>
      name?.includes("Limity")
    )
    const [, perSecond, perMinute, perHour, group = "-"] = limits
    const number = (cell: string | undefined) => (cell === "-" ? undefined : Number(cell))
    // API 2.8.0 counts closing apart from opening, with twice the limits.
    const isClosing = definition.group.endsWith("SessionClose")
    assert.strictEqual(definition.group, group === "-" ? "anonymous" : isClosing ? `${group}Close` : group)
    const documentedLimits = {
      perSecond: number(perSecond),
      perMinute: number(perMinute),
      perHour: number(perHour)
    }
    const ours = Operation.defaultRateLimits[definition.group]
    assert.deepStrictEqual(
      isClosing ? { perSecond: ours.perSecond! / 2, perMinute: ours.perMinute! / 2, perHour: ours.perHour! / 2 } : ours,
      documentedLimits
    )
  })
})

describe("InvoiceStatuses", () => {
  it("accepts an invoice of status 200 only with a KSeF number", () => {
    assert.strictEqual(InvoiceStatuses.invoiceStatus(200, "5265877635-20250626-010080DD2B5E-26").action, "accept")
    for (const none of [null, undefined, ""]) {
      assert.strictEqual(InvoiceStatuses.invoiceStatus(200, none).action, "park")
    }
  })

  it("does not treat an unknown status as final", () => {
    for (let code = 0; code < 1000; code++) {
      if (code in InvoiceStatuses.invoiceStatuses) continue
      const row = InvoiceStatuses.invoiceStatus(code, "5265877635-20250626-010080DD2B5E-26")
      assert.isFalse(row.final)
      assert.strictEqual(row.action, code < 200 ? "poll" : "park")
    }
  })

  it("shows a code for each final status but acceptance, and for no other", () => {
    for (const { action, final, shown } of Object.values(InvoiceStatuses.invoiceStatuses)) {
      assert.strictEqual(shown.length > 0, final && action !== "accept")
    }
  })
})

describe("SessionStatuses", () => {
  it("does not treat an unknown status as final", () => {
    for (const kind of ["online", "batch"] as const) {
      for (let code = 0; code < 1000; code++) {
        if (code in SessionStatuses.sessionStatuses[kind]) continue
        const row = SessionStatuses.sessionStatus(kind, code)
        assert.isFalse(row.final)
        assert.strictEqual(row.action, code < 200 ? "poll" : "park")
      }
    }
  })
})

describe("LoginStatuses", () => {
  const { loginStatus } = LoginStatuses

  it("finds each documented status by its code and detail", () => {
    for (const row of LoginStatuses.loginStatuses) {
      const details = row.detail === undefined ? null : [`${row.detail} X`]
      assert.deepStrictEqual(loginStatus({ code: row.code, details }), row)
    }
  })

  it("classifies status 450 or 460 with an unknown detail as an invalid token or a refused certificate", () => {
    for (const details of [["Coś nowego"], [], null, undefined]) {
      assert.strictEqual(loginStatus({ code: 450, details }).refusal, "credential_invalid")
      assert.strictEqual(loginStatus({ code: 460, details }).refusal, "certificate_refused")
      assert.strictEqual(loginStatus({ code: 450, details }).action, "refuse")
    }
  })

  it("refuses no credential for an unknown status", () => {
    assert.strictEqual(loginStatus({ code: 110, details: null }).action, "poll")
    assert.strictEqual(loginStatus({ code: 499, details: null }).action, "wait")
    assert.isUndefined(loginStatus({ code: 499, details: null }).refusal)
  })

  it("has a refusal for each status that refuses a credential, and for no other", () => {
    for (const { action, refusal } of LoginStatuses.loginStatuses) {
      const canRefuse = !["poll", "redeem", "wait"].includes(action)
      assert.strictEqual(refusal !== undefined, canRefuse)
    }
  })
})

describe("ErrorCodes", () => {
  it("has at most one row for each pair of code and operation", () => {
    const seen = ErrorCodes.errorCodes.flatMap(({ at, code }) => at.map((operation) => `${code} ${operation}`))
    assert.strictEqual(new Set(seen).size, seen.length)
  })

  it("returns the action of a code by its operation", () => {
    assert.strictEqual(ErrorCodes.errorCode("send", 21180)?.action, "new-session")
    assert.strictEqual(ErrorCodes.errorCode("closeOnline", 21180)?.action, "already-closed")
    assert.strictEqual(ErrorCodes.errorCode("send", 21184)?.action, "new-session")
    assert.strictEqual(ErrorCodes.errorCode("send", 21173)?.action, "new-session")
    assert.strictEqual(ErrorCodes.errorCode("sessionStatus", 21173)?.action, "session-unreadable")
  })

  it("returns the row of another operation for a code that an operation does not document", () => {
    assert.strictEqual(ErrorCodes.errorCode("invoiceUpo", 21178)?.action, "not-yet")
    assert.strictEqual(ErrorCodes.errorCode("invoiceStatus", 21173)?.action, "session-unreadable")
    assert.isUndefined(ErrorCodes.errorCode("send", 99999))
  })

  it("has a 403 without a reason and with an unknown text retried soon", () => {
    for (const [reason, detail] of [
      [undefined, undefined],
      ["something-new", undefined],
      ["constructor", "No."]
    ]) {
      assert.strictEqual(ErrorCodes.forbidden(reason, detail).action, "retry")
    }
    assert.strictEqual(ErrorCodes.forbidden("missing-permissions", undefined).refusal, "credential_without_rights")
  })

  it("tells the texts of the firewall that pass by themselves from blocks, also within a page", () => {
    for (const { action, source, text } of ErrorCodes.firewallTexts) {
      assert.isNotEmpty(source)
      assert.strictEqual(ErrorCodes.forbidden(undefined, `${text}.`).action, action)
      const page = Problem.read(`<html><body><p>${text}.</p></body></html>`)
      assert.strictEqual(ErrorCodes.forbidden(page.reasonCode, page.detail).action, action)
    }
    // The reason that KSeF gives decides before the text.
    const [timeout] = ErrorCodes.firewallTexts
    assert.strictEqual(ErrorCodes.forbidden("security-service-blocked", timeout?.text).action, "rest")
  })
})
