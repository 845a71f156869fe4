/** Records, webhooks and examples of the OpenAPI document. */
import { assert, describe, it } from "@effect/vitest"
import { InvoiceEvent } from "@govoice/core"
import { operations as examples } from "../src/internal/document/examples.ts"
import * as Contract from "./support/contract.ts"
import { codesOf, doc, faults, json, operations, pointed, type Schema, words } from "./support/document.ts"

describe("Document", () => {
  describe("records", () => {
    it.each(Object.entries(Contract.records))("%s has exactly the members of the contract", (name, members) => {
      const schema = doc.components.schemas[name]!
      const isNullable = (member: Schema) => member.anyOf?.some(({ type }) => type === "null") === true
      assert.deepStrictEqual(
        Object.entries(schema.properties ?? {}).map(([key, member]) => (isNullable(member) ? `${key}|null` : key)),
        [...words(members)]
      )
      assert.sameMembers([...(schema.required ?? [])], Object.keys(schema.properties ?? {}))
      assert.isUndefined(schema.additionalProperties)
    })

    it.each([
      ["Me", "organization", "id object name"],
      ["Organization", "gateway_credential", "present updated_at"],
      ["Event", "data", "invoice"]
    ])("%s.%s has exactly the members of the contract", (record, member, members) => {
      const schema = doc.components.schemas[record]!.properties![member]!
      assert.deepStrictEqual(Object.keys(schema.properties ?? {}), [...words(members)])
      assert.isUndefined(schema.additionalProperties)
    })
  })

  describe("webhooks", () => {
    it("has a webhook for each event type", () => {
      assert.deepStrictEqual(Object.keys(doc.webhooks), [
        "invoice.received",
        "invoice.submitted",
        "invoice.accepted",
        "invoice.upo_available",
        "invoice.rejected",
        "invoice.failed"
      ])
    })

    it.each(InvoiceEvent.EventType.literals)("%s has signature headers and documents the responses", (type) => {
      const { post } = doc.webhooks[type]!
      assert.deepStrictEqual(
        post.parameters.map(({ name, required }) => ({ name, required })),
        [
          ...["Gov-Event-Id", "Gov-Timestamp", "Gov-Signature"].map((name) => ({ name, required: true })),
          ...["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) => ({ name, required: false }))
        ]
      )
      for (const parameter of post.parameters) {
        assert.deepStrictEqual(faults(parameter.schema, parameter.example), [], parameter.name)
      }
      assert.deepStrictEqual(post.security, [])
      assert.sameMembers(Object.keys(post.responses), ["2XX", "3XX", "429", "4XX", "5XX"])

      const media = post.requestBody!.content["application/json"]!
      assert.strictEqual(media.schema.allOf?.[0]?.$ref, "#/components/schemas/Event")
      assert.deepStrictEqual(faults(media.schema, media.example), [])
      const other = type === "invoice.failed" ? "invoice.received" : "invoice.failed"
      assert.notDeepEqual(faults(media.schema, { ...(media.example as object), type: other }), [])
    })
  })

  describe("examples", () => {
    it("of errors have the path of the page about their code", () => {
      for (const [code, example] of Object.entries(doc.components.examples)) {
        assert.strictEqual(example["x-docs-url"], `/docs/errors/${code}`)
        assert.include(example.description, `(/docs/errors/${code})`)
        assert.isNotEmpty(example.summary)
      }
    })

    it("exist for every body, and for no unknown operation", () => {
      const ids = operations.map(({ operation }) => operation.operationId)
      assert.deepStrictEqual(
        Object.keys(examples).filter((id) => !ids.includes(id)),
        []
      )
      for (const { name, operation } of operations) {
        const media = [
          ...(operation.requestBody === undefined ? [] : [operation.requestBody.content["application/json"]!]),
          ...Object.values(operation.responses).flatMap((response) => json(response) ?? [])
        ]
        for (const { example, examples } of media) assert.isTrue(example !== undefined || examples !== undefined, name)
      }
    })

    it.each(operations)("of $name are valid by its schemas", ({ operation }) => {
      const body = operation.requestBody?.content["application/json"]
      if (body !== undefined) assert.deepStrictEqual(faults(body.schema, body.example), [])
      for (const [status, response] of Object.entries(operation.responses)) {
        const media = json(response)
        if (media === undefined) continue
        if (media.examples === undefined) assert.deepStrictEqual(faults(media.schema, media.example), [], status)
        else {
          assert.deepStrictEqual<ReadonlyArray<unknown>>(Object.keys(media.examples), codesOf(response))
          for (const { $ref } of Object.values(media.examples)) {
            assert.deepStrictEqual(faults(media.schema, (pointed($ref) as { value: unknown }).value), [], $ref)
          }
        }
      }
    })

    it("with a new status or member are valid, with a member less or of another type are not", () => {
      const media = json(doc.paths["/v1/invoices/{id}"]!["get"]!.responses["200"]!)!
      const example = media.example as Readonly<Record<string, unknown>>
      assert.deepStrictEqual(faults(media.schema, example), [])
      assert.deepStrictEqual(faults(media.schema, { ...example, status: "archived", more: 1 }), [])
      assert.notDeepEqual(faults(media.schema, { ...example, status: 1 }), [])
      assert.notDeepEqual(faults(media.schema, { ...example, status: undefined }), [])
    })

    it("of requests with an unknown value or member are invalid", () => {
      const { example, schema } = doc.paths["/v1/invoices"]!["post"]!.requestBody!.content["application/json"]!
      assert.notDeepEqual(faults(schema, { ...(example as object), more: 1 }), [])
      const scenario = doc.paths["/v1/invoices"]!["post"]!.parameters.find(
        ({ name }) => name === "Gov-Sandbox-Scenario"
      )!
      assert.notDeepEqual(faults(scenario.schema, "archived"), [])
    })

    it("of responses have no closed list of values and no closed object, at any depth", () => {
      const closed: Array<string> = []
      const look = (value: unknown, path: string): void => {
        if (typeof value !== "object" || value === null) return
        const { additionalProperties, enum: values } = value as Schema
        if (additionalProperties === false || (values !== undefined && values.length > 1)) closed.push(path)
        for (const [name, member] of Object.entries(value as Readonly<Record<string, unknown>>)) {
          const target: unknown = name === "$ref" ? pointed(String(member)) : member
          if (name !== "$ref" || !seen.has(member)) look(target, `${path}/${name}`)
          if (name === "$ref") seen.add(member)
        }
      }
      const seen = new Set<unknown>()
      for (const { name, operation } of operations) look(operation.responses, name)
      look(doc.webhooks, "webhooks")
      look(doc.components.responses, "components")
      assert.deepStrictEqual(closed, [])
      assert.isAbove(seen.size, 50)
    })

    it("contain no complete credential", () => {
      assert.notMatch(JSON.stringify(doc), /sk_(?:test|live)_[0-9A-Za-z]{8}|whsec_[\w-]{8}|eyJ[\w-]{12}/)
    })
  })
})
