import { afterAll, assert, describe, it } from "@effect/vitest"
import { Api, Problems } from "@govoice/api"
import { Ajv2020 } from "ajv/dist/2020.js"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { FetchHttpClient } from "effect/http"
import { OpenApi } from "effect/http-api"
import * as Contract from "./support/contract.ts"
import { operations as examples } from "../src/internal/document/examples.ts"
import { submit } from "./readme/client.ts"
import { errorOf, keys, makeServer, sendTo } from "./support/server.ts"

const server = makeServer()
const send = sendTo(server)
afterAll(() => server.dispose())

interface Operation {
  readonly operationId: string
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, { schema: object }>> }>>
}

const doc = OpenApi.fromApi(Api) as unknown as { readonly paths: Readonly<Record<string, Record<string, Operation>>> }

const ajv = new Ajv2020({ strict: false, validateFormats: false })
ajv.addSchema(doc, "doc")

const operations = Object.entries(Contract.operations).map(([name, { auth, status }]) => {
  const [method, path] = name.split(" ") as [string, string]
  const operation = doc.paths[path]![method.toLowerCase()]!
  const example = (examples as Readonly<Record<string, { readonly request?: unknown }>>)[operation.operationId]
  return { name, method, path: path.replaceAll(/\{\w+\}/g, "x_1"), pointer: path, operation, auth, status, example }
})

const request = ({ example, method, path }: (typeof operations)[number], key?: string) =>
  send(method, path, {
    ...(key === undefined ? {} : { key }),
    headers: { "idempotency-key": "order-1" },
    ...(example?.request === undefined ? {} : { body: example.request })
  })

const escape = (path: string) =>
  path.replaceAll("~", "~0").replaceAll("/", "~1").replaceAll("{", "%7B").replaceAll("}", "%7D")

describe("Api", () => {
  it.each(operations)("$name returns its example as documented", async (operation) => {
    const answer = await request(operation)
    assert.strictEqual(answer.status, operation.status, answer.text)
    const media = operation.operation.responses[operation.status]!.content
    if (media?.["application/json"] === undefined) return assert.isUndefined(answer.json)
    const schema = `doc#/paths/${escape(operation.pointer)}/${operation.method.toLowerCase()}/responses/${operation.status}/content/application~1json/schema`
    const validate = ajv.getSchema(schema)!
    assert.isTrue(validate(answer.json), JSON.stringify(validate.errors))
  })

  it.each(operations.filter(({ auth }) => auth !== "none"))(
    "$name answers 401 to a request without a valid credential of its kind",
    async (operation) => {
      const expected = operation.auth === "key" ? "missing_api_key" : "missing_access_token"
      for (const key of ["", "sk_test_of_nobody", operation.auth === "key" ? keys.token : keys.test]) {
        const answer = await request(operation, key)
        assert.strictEqual(answer.status, 401)
        assert.deepStrictEqual<unknown>(errorOf(answer).code, expected)
      }
    }
  )

  it("answers 304 to the matching ETag of a receipt, and the receipt otherwise", async () => {
    const receipt = await send("GET", "/v1/invoices/inv_1/upo")
    assert.strictEqual(receipt.headers.get("content-type"), "application/xml")
    assert.strictEqual(receipt.headers.get("etag"), '"1"')
    assert.strictEqual(receipt.text, "<Potwierdzenie/>")
    const again = await send("GET", "/v1/invoices/inv_1/upo", { headers: { "if-none-match": '"1"' } })
    assert.strictEqual(again.status, 304)
    assert.strictEqual(again.text, "")
  })

  it("serves the document that clients are generated from", async () => {
    const { json } = await send("GET", "/openapi.json")
    assert.deepStrictEqual(json, JSON.parse(JSON.stringify(doc)))
    assert.property(json, "webhooks")
  })

  describe("The client of the README", () => {
    const Fetch = FetchHttpClient.layer.pipe(
      Layer.provide(Layer.succeed(FetchHttpClient.Fetch)((input, init) => server.fetch(new Request(input, init))))
    )
    const order = { baseUrl: "http://localhost", invoiceXml: "<Faktura/>", order: "2026/11/0042" }

    it.effect("submits an invoice and gets it", () =>
      Effect.gen(function* () {
        const said = yield* Effect.provide(submit({ ...order, apiKey: keys.test }), Fetch)
        assert.strictEqual(said, `${examples["invoices.get"].response.id} is accepted`)
        const submission = server.calls.find((call) => call.submission?.idempotencyKey === order.order)
        assert.deepStrictEqual(submission?.payload, { invoice_xml: "<Faktura/>", metadata: { order: order.order } })
      })
    )

    it.effect("does not send a request that the declarations forbid", () =>
      Effect.gen(function* () {
        const before = server.calls.length
        const submission = submit({ ...order, order: "\u0000", apiKey: keys.test })
        const error = yield* Effect.flip(Effect.provide(submission, Fetch))
        assert.strictEqual(error._tag, "SchemaError")
        assert.strictEqual(server.calls.length, before)
      })
    )

    it.effect("fails to decode an unknown error", () =>
      Effect.gen(function* () {
        const body = JSON.stringify({ error: { ...Problems.make("not_found", "req_1").error, code: "made_up_later" } })
        const Later = FetchHttpClient.layer.pipe(
          Layer.provide(
            Layer.succeed(FetchHttpClient.Fetch)(() =>
              Promise.resolve(new Response(body, { status: 404, headers: { "content-type": "application/json" } }))
            )
          )
        )
        const error = yield* Effect.flip(Effect.provide(submit({ ...order, apiKey: keys.test }), Later))
        assert.notProperty(error, "error")
      })
    )

    it.effect("decodes an error response", () =>
      Effect.gen(function* () {
        const said = yield* Effect.provide(submit({ ...order, apiKey: "sk_test_of_nobody" }), Fetch)
        assert.match(said, /^missing_api_key: No valid API key\./)
      })
    )
  })
})
