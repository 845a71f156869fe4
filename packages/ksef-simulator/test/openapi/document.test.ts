import { assert, describe, it } from "vitest"
import { dataFile } from "../../src/dataFolder.ts"
import { exceptions } from "../../src/http/exceptions.ts"
import { readDocument, readOverlay } from "../../src/openapi/document.ts"
import { operations } from "../../src/openapi/operations.ts"
import { groupOf, groups, publishedLimits } from "../../src/openapi/rateLimits.ts"
import { Router } from "../../src/openapi/Router.ts"
import { batchStatuses, details, invoiceStatuses, loginStatuses, onlineStatuses } from "../../src/statuses.ts"

const document = readDocument()
const router = new Router(document)

const text = (schema: string, member: string): string => {
  const { properties } = document.components.schemas[schema] as {
    readonly properties: Readonly<Record<string, { readonly description: string }>>
  }
  return properties[member]!.description
}

/** The rows of the tables in a description: cells without their padding. */
const rows = (description: string): ReadonlyArray<ReadonlyArray<string>> =>
  description
    .split("\n")
    .filter((line) => line.trim().startsWith("|"))
    .map((line) => line.trim().slice(1, -1).split("|"))
    .map((cells) => cells.map((cell) => cell.trim()))

const statusesIn = (description: string): Readonly<Record<number, string>> =>
  Object.fromEntries(
    rows(description)
      .filter(([code]) => /^\d{3}$/.test(code ?? ""))
      .map(([code, literal]) => [Number(code), literal!])
  )

describe("the overlay", () => {
  const published = JSON.parse(dataFile("open-api-2.7.0.json")) as object

  it.each(readOverlay().map((entry) => [entry.at.join(" "), entry] as const))("%s: has a source", (_, { source }) => {
    assert.match(source, /OpenAPI 2\.8\.1|CIRFMF\/ksef-api/)
  })

  it("every entry changes the published document", () => {
    for (const { at } of readOverlay()) {
      const valueIn = (root: object): unknown =>
        at.reduce<unknown>((node, step) => (node as Record<string, unknown> | undefined)?.[step], root)
      assert.notDeepEqual(valueIn(document), valueIn(published), at.join(" "))
    }
  })

  it("has limits of their own for closes, and knows 21184", () => {
    const limits = publishedLimits(document)
    assert.deepStrictEqual(limits.onlineSessionClose, { perSecond: 20, perMinute: 60, perHour: 240 })
    assert.deepStrictEqual(limits.batchSessionClose, { perSecond: 20, perMinute: 40, perHour: 120 })
    const send = document.paths["/sessions/online/{referenceNumber}/invoices"]!["post"]!
    assert.include(send.responses["400"]!.description, "| 21184 ")
  })
})

describe("operations", () => {
  it("that the simulator implements are in the document, each under one name", () => {
    const known = new Set(router.operations.map(({ key }) => key))
    for (const key of Object.values(operations)) assert.isTrue(known.has(key), key)
    assert.lengthOf(new Set(Object.values(operations)), Object.keys(operations).length)
  })

  it("are found by a literal segment before a parameter, in any order of the paths", () => {
    const name = (method: string, path: string) => {
      const match = router.match(method, path)
      return match._tag === "Operation" ? match.operation.key : match._tag
    }
    assert.strictEqual(name("GET", "/auth/sessions"), "GET /auth/sessions")
    assert.strictEqual(name("GET", "/auth/20261122-AU-0000000000-0000000000-00"), "GET /auth/{referenceNumber}")
    assert.strictEqual(name("GET", "/sessions/x/invoices/failed"), "GET /sessions/{referenceNumber}/invoices/failed")
    assert.strictEqual(
      name("GET", "/sessions/x/invoices/ksef/y/upo"),
      "GET /sessions/{referenceNumber}/invoices/ksef/{ksefNumber}/upo"
    )
    assert.strictEqual(name("DELETE", "/auth/sessions/current"), "DELETE /auth/sessions/current")
    assert.strictEqual(name("PATCH", "/sessions"), "OtherMethod")
    assert.strictEqual(name("GET", "/nothing"), "Unknown")
    assert.strictEqual(name("GET", "/sessions/%E0%A4%A"), "Unknown")
  })

  it("every group of limits has the limits of its operations", () => {
    const limits = publishedLimits(document)
    for (const operation of router.operations) {
      const declared = operation.definition["x-rate-limits"]
      const group = groupOf(operation)
      if (declared === undefined || group === "anonymous") continue
      assert.deepStrictEqual(limits[group], declared as never, operation.key)
    }
    assert.deepStrictEqual(limits.anonymous, { perSecond: 60, perMinute: -1, perHour: -1 })
    assert.deepStrictEqual(limits.global, { perSecond: -1, perMinute: -1, perHour: -1 })
  })

  it("the groups are those of GET /rate-limits", () => {
    const { required } = document.components.schemas["EffectiveApiRateLimits"] as { readonly required: Array<string> }
    assert.sameMembers([...groups], required)
  })
})

describe("codes and texts", () => {
  it("every exception that can be answered is in the document with this text", () => {
    const known = new Map<number, Set<string>>()
    for (const { definition } of router.operations) {
      for (const [code, description] of rows(definition.responses["400"]?.description ?? "")) {
        if (!/^\d+$/.test(code ?? "")) continue
        known.set(Number(code), (known.get(Number(code)) ?? new Set()).add(description!))
      }
    }
    for (const [code, description] of Object.entries(exceptions)) {
      assert.isTrue(known.get(Number(code))?.has(description), `${code} ${description}`)
    }
  })

  it("every exception of the operations that are carried out can be answered", () => {
    for (const { definition, key, name } of router.operations) {
      if (name === undefined) continue
      for (const [code] of rows(definition.responses["400"]?.description ?? "")) {
        if (/^\d+$/.test(code ?? "")) assert.property(exceptions, code!, key)
      }
    }
  })

  it("the statuses of documents, sessions and logins are those of the document", () => {
    assert.deepStrictEqual(invoiceStatuses, statusesIn(text("SessionInvoiceStatusResponse", "status")))
    const [batch, online] = text("SessionStatusResponse", "status").split("Sesja interaktywna:")
    assert.deepStrictEqual(batchStatuses, statusesIn(batch!))
    assert.deepStrictEqual(onlineStatuses, statusesIn(online!))
    assert.deepStrictEqual(loginStatuses, statusesIn(text("AuthenticationOperationStatusResponse", "status")))
  })

  it("the details are those of the document", () => {
    const all = [
      ["AuthenticationOperationStatusResponse", "status"],
      ["SessionStatusResponse", "status"],
      ["SessionInvoiceStatusResponse", "status"]
    ].flatMap(([schema, member]) => rows(text(schema!, member!)).map(([, , detail]) => detail))
    for (const detail of Object.values(details)) assert.include(all, detail)
  })
})
