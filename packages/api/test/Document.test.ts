/** Paths, errors and headers of the OpenAPI document. */
import { assert, describe, it } from "@effect/vitest"
import { Document, Problems } from "@govoice/api"
import { SandboxScenario } from "@govoice/core"
import { Validator } from "@seriousme/openapi-schema-validator"
import * as Contract from "./support/contract.ts"
import {
  alternatives,
  codesOf,
  doc,
  envelope,
  failures,
  faults,
  json,
  operations,
  pointed,
  resolve,
  words
} from "./support/document.ts"

describe("Document", () => {
  it("is an OpenAPI 3.1 document", async () => {
    const result = await new Validator().validate(structuredClone(doc) as unknown as Record<string, unknown>)
    assert.deepStrictEqual(result.errors, undefined)
    assert.isTrue(result.valid)
    assert.strictEqual(doc.openapi, "3.1.0")
  })

  it("has no dangling references", () => {
    const refs = Array.from(JSON.stringify(doc).matchAll(/"\$ref":"(#[^"]+)"/g), (match) => match[1]!)
    assert.isAbove(refs.length, 100)
    assert.deepStrictEqual(
      refs.filter((ref) => pointed(ref) === undefined),
      []
    )
  })

  describe("paths", () => {
    it("has exactly the operations of the contract", () => {
      assert.sameMembers(
        operations.map(({ name }) => name),
        Object.keys(Contract.operations)
      )
    })

    it.each(operations)(
      "$name has the success status, credentials and errors of the contract",
      ({ name, operation }) => {
        const { auth, codes, status } = Contract.operations[name]!
        const statuses = Object.keys(operation.responses).map(Number)
        assert.deepStrictEqual(
          statuses.filter((code) => code < 400),
          /\/(?:document|pdf|qr|upo)$/.test(name) ? [200, 304] : [status]
        )
        assert.deepStrictEqual(
          operation.security,
          auth === "none" ? [] : [auth === "key" ? { apiKey: [] } : { accessToken: [] }]
        )
        assert.sameMembers(
          failures.filter((failure) => failure.name === name).flatMap(({ response }) => [...codesOf(response)]),
          [...words(`${Contract.everyEndpoint[auth]} ${codes}`)]
        )
      }
    )

    it.each(operations)("$name has the parameters of the contract", ({ name, operation }) => {
      assert.deepStrictEqual(
        operation.parameters
          .filter((parameter) => parameter.in !== "path")
          .map((parameter) => `${parameter.name}${parameter.required ? "" : "?"}`),
        words(Contract.parameters[name] ?? "")
      )
      assert.deepStrictEqual(
        operation.parameters.filter((parameter) => parameter.in === "path").map((parameter) => parameter.name),
        Array.from(name.matchAll(/\{(\w+)\}/g), (match) => match[1]!)
      )
      for (const { description, example, name, schema } of operation.parameters) {
        assert.isString(description, name)
        assert.isDefined(example, name)
        assert.deepStrictEqual(faults(schema, example), [], name)
      }
    })

    it.each(operations)("$name has the body of the contract", ({ name, operation }) => {
      const expected = Contract.bodies[name]
      const body = operation.requestBody
      assert.strictEqual(body !== undefined, expected !== undefined)
      if (body === undefined || expected === undefined) return
      assert.isTrue(body.required)
      assert.deepStrictEqual(Object.keys(body.content), ["application/json"])
      const schemas = alternatives(resolve(body.content["application/json"]!.schema))
      const members = schemas.map(({ properties = {}, required = [] }) =>
        Object.keys(properties).map((key) => (required.includes(key) ? key : `${key}?`))
      )
      assert.deepStrictEqual(members, expected.split(" | ").map(words))
      for (const schema of schemas) assert.isFalse(schema.additionalProperties)
    })

    it.each(Object.entries(Contract.bounds))("has the limits of %s", (name, bounds) => {
      const properties = doc.components.schemas[name]!.properties!
      for (const [member, bound] of Object.entries(bounds)) assert.deepInclude(properties[member]!, bound, member)
    })

    it("documents limit as a number and scenarios as an enumeration", () => {
      for (const { name, operation } of operations) {
        const limit = operation.parameters.find((parameter) => parameter.name === "limit")
        if (limit !== undefined) {
          assert.deepStrictEqual(limit.schema, { type: "integer", minimum: 1, maximum: 100, default: 50 }, name)
        }
      }
      const scenario = doc.paths["/v1/invoices"]!["post"]!.parameters.find(({ name }) => name.startsWith("Gov-"))
      assert.deepStrictEqual(scenario?.schema, {
        type: "string",
        default: "accepted",
        enum: ["accepted", "rejected", "temporary_failure", "delayed"]
      })
      assert.deepStrictEqual(scenario?.schema.enum, SandboxScenario.Scenario.literals)
    })

    it("has unique operation ids and described tags", () => {
      const ids = [
        ...operations.map(({ operation }) => operation.operationId),
        ...Object.values(doc.webhooks).map(({ post }) => post.operationId)
      ]
      assert.strictEqual(new Set(ids).size, ids.length)
      const used = new Set([...operations.flatMap(({ operation }) => operation.tags), "Webhooks"])
      const tags = doc.tags.map(({ name }) => name)
      assert.sameMembers([...used], tags)
      assert.deepStrictEqual(
        doc["x-tagGroups"].flatMap((group) => [...group.tags]),
        tags
      )
      for (const { operation } of operations) assert.isString(operation.summary)
    })

    it("has the server URL /", () => {
      assert.deepStrictEqual(
        doc.servers.map(({ url }) => url),
        ["/"]
      )
      for (const scheme of Object.values(doc.components.securitySchemes)) assert.strictEqual(scheme.scheme, "bearer")
    })
  })

  describe("errors", () => {
    it("has every code of the catalog with its type and retryability", () => {
      const seen = new Map<unknown, unknown>()
      for (const { response } of failures) {
        for (const schema of alternatives(json(response)!.schema)) {
          const { code, retryable, type } = envelope(schema)
          // The last alternative is the error of any code.
          if (code?.enum !== undefined) seen.set(code.enum[0], [type?.enum?.[0], retryable?.enum?.[0]])
        }
      }
      assert.deepStrictEqual(
        Object.fromEntries(seen),
        Object.fromEntries(
          Object.entries(Contract.catalog)
            .filter(([code]) => !Contract.undocumented.includes(code))
            .map(([code, [type, , retryable]]) => [code, [type, retryable]])
        )
      )
    })

    it("has each code under its status", () => {
      for (const { name, response, status } of failures) {
        for (const code of codesOf(response)) {
          const expected = Contract.catalog[String(code)]![1]
          if (status !== undefined) assert.strictEqual(status, expected, `${name} ${String(code)}`)
          assert.strictEqual(Problems.status(doc.components.examples[String(code)]!.value), expected)
        }
      }
    })

    it("has the envelope with exactly six members under each status of 400 or more", () => {
      assert.isAbove(failures.length, 100)
      for (const { name, response } of failures) {
        assert.deepStrictEqual(Object.keys(response.content ?? {}), ["application/json"], name)
        for (const schema of alternatives(json(response)!.schema)) {
          assert.deepStrictEqual(Object.keys(schema.properties ?? {}), ["error"])
          assert.deepStrictEqual(schema.required, ["error"])
          assert.isUndefined(schema.additionalProperties)
          const error = schema.properties!["error"]!
          const members = ["type", "code", "message", "param", "request_id", "retryable"]
          assert.deepStrictEqual(Object.keys(error.properties ?? {}), members)
          assert.sameMembers([...(error.required ?? [])], members)
          assert.isUndefined(error.additionalProperties)
        }
      }
    })

    it("lists the codes of a status on separate lines", () => {
      for (const { name, response } of failures) {
        const codes = codesOf(response)
        const lines = response.description.split("\n")
        assert.notInclude(response.description, " | ", name)
        assert.strictEqual(lines.length, codes.length)
        for (const [index, code] of codes.entries()) {
          assert.isTrue(
            lines[index]!.startsWith(codes.length === 1 ? `\`${String(code)}\`: ` : `- \`${String(code)}\`: `)
          )
        }
      }
    })

    it("has the errors of any path as components and in the description", () => {
      assert.deepStrictEqual(Object.values(doc.components.responses).flatMap(codesOf), [...words(Contract.anyPath)])
      assert.deepStrictEqual<ReadonlyArray<string>>(Document.anywhere, words(Contract.anyPath))
      for (const code of words(Contract.anyPath)) assert.include(doc.info.description, `\`${code}\``)
    })

    it("has the general envelope with every code", () => {
      assert.sameMembers(
        [...(envelope(doc.components.schemas["Error"]!)["code"]?.["x-extensible-enum"] ?? [])],
        Object.keys(Contract.catalog)
      )
    })
  })

  describe("response headers", () => {
    const answers = operations.flatMap(({ name, operation }) =>
      Object.entries(operation.responses).map(([status, response]) => ({
        name: `${name} ${status}`,
        status: Number(status),
        developer: Contract.operations[name]!.auth === "key",
        headers: Object.keys(response.headers)
      }))
    )

    it.each(answers)(
      "$name has Request-Id, the rate limit headers on developer routes, and Retry-After on 429 and 503",
      ({ developer, headers, status }) => {
        assert.include(headers, "Request-Id")
        const limited = developer && status !== 401
        assert.strictEqual(headers.includes("RateLimit"), limited)
        assert.strictEqual(headers.includes("RateLimit-Policy"), limited)
        assert.strictEqual(headers.includes("Retry-After"), status === 429 || status === 503)
        assert.isFalse(headers.includes("Allow"))
      }
    )

    it("include Allow in MethodNotAllowed", () => {
      assert.hasAllKeys(doc.components.responses["MethodNotAllowed"]!.headers, ["Request-Id", "Allow"])
      for (const response of Object.values(doc.components.responses)) assert.property(response.headers, "Request-Id")
    })

    it("include those of the submission and the receipt in their usual case", () => {
      const own = (path: string, method: string, status: string) =>
        Object.entries(doc.paths[path]![method]!.responses[status]!.headers)
          .filter(([, header]) => header.$ref === undefined)
          .map(([name, header]) => `${name}: ${header.description}`)
      assert.deepStrictEqual(own("/v1/invoices", "post", "201"), [
        "Location: The path of the invoice.",
        "Idempotent-Replayed: Present if the response was replayed."
      ])
      assert.deepStrictEqual(own("/v1/invoices/{id}/upo", "get", "200"), [
        "ETag: A strong validator for `If-None-Match`.",
        "Content-Disposition: Names the file `upo-{id}.xml`."
      ])
      assert.deepStrictEqual(own("/v1/invoices/{id}/upo", "get", "304"), [
        "ETag: A strong validator for `If-None-Match`."
      ])
    })

    it("include an image in two formats", () => {
      assert.deepStrictEqual(Object.keys(doc.paths["/v1/invoices/{id}/qr"]!["get"]!.responses["200"]!.content ?? {}), [
        "image/svg+xml",
        "image/png"
      ])
    })

    it("have examples that their schemas allow", () => {
      for (const [name, header] of Object.entries(doc.components.headers)) {
        assert.deepStrictEqual(faults(header.schema, header.example), [], name)
      }
    })
  })
})
