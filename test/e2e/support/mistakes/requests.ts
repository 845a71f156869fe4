/** Mistakes in requests with an API key: through the client, and with a plain HTTP client such as curl. */
import { randomUUID } from "node:crypto"
import { createClient } from "../../../../packages/client/src/index.ts"
import { type Call, xml } from "../client.ts"
import { fails, type Mistake } from "./Mistake.ts"

interface Service {
  readonly url: string
  readonly apiKey: string
  readonly call: Call
}

/** Returns what a plain HTTP client reads: the status, the code and the message. */
export const answerOf = async (call: ReturnType<Call>): Promise<string> => {
  const { json, status } = await call
  const { error } = json as { readonly error: { readonly code: string; readonly message: string } }
  return `${status} ${error.code}: ${error.message}`
}

export const requestMistakes = (service: () => Service): ReadonlyArray<Mistake> => {
  const client = () => createClient({ apiKey: service().apiKey, baseUrl: service().url, maxRetries: 0 })
  const submit = (invoiceXml: string, more: object = {}) => client().invoices.submit({ invoiceXml, ...more })

  const plain = (title: string, method: string, path: string, options: Parameters<Call>[2] = {}): Mistake => ({
    title,
    see: () => answerOf(service().call(method, path, { auth: service().apiKey, ...options }))
  })
  const post = (title: string, options: Parameters<Call>[2], headers: Record<string, string> = {}): Mistake =>
    plain(title, "POST", "/v1/invoices", { ...options, headers: { "idempotency-key": randomUUID(), ...headers } })

  return [
    fails("An empty document", () => submit("")),
    fails("A document that is not well-formed", () => submit("<Faktura><P_2>FV/1</Faktura>")),
    fails("JSON in place of XML", () => submit('{"number":"FV/1"}')),
    fails("A document with a DOCTYPE", () => submit(`<!DOCTYPE Faktura>${xml}`)),
    fails("A document of no form of KSeF, with `checks`", () =>
      submit(xml.replace(/ xmlns='[^']*'/, ""), { checks: "schema" })
    ),
    fails("Metadata with an object", () => submit(xml, { metadata: { order: { id: "42" } } })),
    fails("Metadata with a number", () => submit(xml, { metadata: { order: 42 } })),
    fails("Metadata with a long value", () => submit(xml, { metadata: { order: "4".repeat(501) } })),
    fails("A scenario that does not exist", () => submit(xml, { sandboxScenario: "acepted" })),
    fails("An idempotency key for another document", async () => {
      const idempotencyKey = randomUUID()
      await client().invoices.submit({ invoiceXml: xml }, { idempotencyKey })
      return client().invoices.submit({ invoiceXml: xml.replace("/1", "/2") }, { idempotencyKey })
    }),
    fails("An idempotency key with a letter outside of ASCII", () =>
      client().invoices.submit({ invoiceXml: xml }, { idempotencyKey: "zamówienie-42" })
    ),
    fails("An idempotency key beside the document", () => submit(xml, { idempotencyKey: "42" })),
    fails("A misspelled option", () =>
      client().invoices.submit({ invoiceXml: xml }, { idempotencykey: "42" } as { idempotencyKey?: string })
    ),
    fails("A wait that is too short", async () => {
      const { id } = await submit(xml, { sandboxScenario: "delayed" })
      return client().invoices.waitUntilFinal(id, { deadlineMs: 300 })
    }),
    fails("The id of no invoice", () => client().invoices.get("inv_01m7q5cqg0e6786ptds43fm4k3")),
    fails("The invoice's own number in place of its id", () => client().invoices.get("FV/2026/11/1")),
    fails("The receipt before it is there", async () => {
      const { id } = await submit(xml, { sandboxScenario: "delayed" })
      return client().invoices.downloadUpo(id)
    }),
    fails("A page of 1,000 invoices", () => client().invoices.list({ limit: 1000 }).page()),
    fails("A status that does not exist", () =>
      client()
        .invoices.list({ status: "done" as never })
        .page()
    ),
    fails("A cursor that was changed", () => client().invoices.list().page("next")),
    plain("A misspelled query parameter", "GET", "/v1/invoices?staus=accepted"),
    plain("A path that does not exist", "GET", "/v1/invoice"),
    plain("A method that the path does not have", "PUT", "/v1/invoices"),
    plain("No `Authorization` header", "GET", "/v1/me", { auth: undefined }),
    plain("`Basic` in place of `Bearer`", "GET", "/v1/me", {
      auth: undefined,
      headers: { authorization: `Basic ${btoa("key:")}` }
    }),
    plain("No `Idempotency-Key` header", "POST", "/v1/invoices", { body: { invoice_xml: xml } }),
    post("The document as the body", { raw: xml }, { "content-type": "application/xml" }),
    post("A body that is not JSON", { raw: "invoice_xml=<Faktura/>" }),
    post("`invoiceXml` in place of `invoice_xml`", { body: { invoiceXml: xml } })
  ]
}
