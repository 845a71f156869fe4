/** Calls the API over HTTP, and checks each response against the OpenAPI document. */
import { randomUUID } from "node:crypto"
import { type Agreement, type Answer, type Document, makeAgreement } from "./agreement.ts"

export interface Options {
  readonly auth?: string | undefined
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
  /** A body to send as it is. */
  readonly raw?: string | Uint8Array
}

export type Call = (method: string, path: string, options?: Options) => Promise<Answer>

export const read = async (response: Response): Promise<Answer> => {
  const text = await response.text()
  const isJson = response.headers.get("content-type") === "application/json" && text !== ""
  return {
    status: response.status,
    headers: response.headers,
    text,
    json: isJson ? (JSON.parse(text) as unknown) : undefined
  }
}

/** Makes the function that calls one server. Its answers go on the account of `agreement`. */
export const makeCall =
  (url: () => string, agreement: Agreement): Call =>
  async (method, path, { auth, body, headers, raw } = {}) => {
    const sent = raw ?? (body === undefined ? undefined : JSON.stringify(body))
    const response = await fetch(`${url()}${path}`, {
      method,
      redirect: "error",
      signal: AbortSignal.timeout(40_000),
      headers: {
        ...(sent === undefined ? {} : { "content-type": "application/json" }),
        ...(auth === undefined ? {} : { authorization: `Bearer ${auth}` }),
        ...headers
      },
      ...(sent === undefined ? {} : { body: sent as NonNullable<RequestInit["body"]> })
    })
    const answer = await read(response)
    agreement.check(method, path, answer)
    return answer
  }

/** Reads the document of a server. */
export const readAgreement = async (url: string): Promise<Agreement> =>
  makeAgreement((await (await fetch(`${url}/openapi.json`)).json()) as Document)

export const password = "correct horse battery"

/** The least of a document that has a QR code and a PDF. */
export const xml =
  "<Faktura xmlns='http://crd.gov.pl/wzor/2025/06/25/13775/'><Podmiot1><DaneIdentyfikacyjne><NIP>5265877635</NIP></DaneIdentyfikacyjne></Podmiot1><Fa><P_1>2026-11-20</P_1><P_2>FV/2026/11/1</P_2></Fa></Faktura>"

export interface Tenant {
  readonly email: string
  readonly accountId: string
  readonly token: string
  readonly refreshToken: string
  readonly organizationId: string
  readonly testKey: string
  readonly testKeyId: string
  readonly liveKey: string
  readonly endpointId: string
  readonly endpointSecret: string
}

const member = (answer: Answer, name: string): string => {
  const value = (answer.json as Record<string, unknown> | undefined)?.[name]
  if (typeof value !== "string") throw new Error(`No ${name} in ${answer.status} ${answer.text}`)
  return value
}

/** Signs somebody up, and makes one of everything. The endpoint is disabled, so that nothing is sent. */
export const signUp = async (call: Call): Promise<Tenant> => {
  const email = `owner-${randomUUID()}@example.com`
  const account = await call("POST", "/v1/control-plane/accounts", { body: { email, password } })
  const login = await call("POST", "/v1/control-plane/auth/login", { body: { email, password } })
  const auth = member(login, "access_token")
  const organization = await call("POST", "/v1/control-plane/organizations", { auth, body: { name: "Example" } })
  const base = `/v1/control-plane/organizations/${member(organization, "id")}`
  const test = await call("POST", `${base}/api-keys`, { auth, body: { mode: "test", name: "integration" } })
  const live = await call("POST", `${base}/api-keys`, { auth, body: { mode: "live" } })
  const endpoint = await call("POST", `${base}/webhook-endpoints`, {
    auth,
    body: { url: "https://example.com/webhooks", event_types: ["*"], enabled: false }
  })
  return {
    email,
    accountId: member(account, "id"),
    token: auth,
    refreshToken: member(login, "refresh_token"),
    organizationId: member(organization, "id"),
    testKey: member(test, "secret"),
    testKeyId: member(test, "id"),
    liveKey: member(live, "secret"),
    endpointId: member(endpoint, "id"),
    endpointSecret: member(endpoint, "secret")
  }
}

/** Submits an invoice with a key of its own. */
export const submit = (call: Call, auth: string, options: Options = {}): Promise<Answer> =>
  call("POST", "/v1/invoices", {
    auth,
    body: { invoice_xml: xml },
    ...options,
    headers: { "idempotency-key": randomUUID(), ...options.headers }
  })

/** Asks until an answer is what is waited for. */
export const until = async (
  ask: () => Promise<Answer>,
  isEnough: (answer: Answer) => boolean,
  milliseconds = 50_000
): Promise<Answer> => {
  const deadline = Date.now() + milliseconds
  for (;;) {
    const answer = await ask()
    if (isEnough(answer)) return answer
    if (Date.now() > deadline) throw new Error(`Timed out with ${answer.status} ${answer.text}`)
    await new Promise((resolve) => setTimeout(resolve, 30))
  }
}
