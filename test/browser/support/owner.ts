/** An owner whose records are made over the API, where a journey is about something else. */
import type { Page } from "playwright-core"
import type { Server } from "../../e2e/support/server.ts"
import { logIn, password, signUp } from "./deployment.ts"
import { patienceMs } from "../../support/patienceMs.ts"

type Json = Readonly<Record<string, unknown>>

/** An account with one organization. */
export class Owner {
  readonly email: string
  readonly org: string
  readonly url: string
  readonly #token: string

  /** The owner of these records at a server. */
  constructor(url: string, { email, org, token }: Pick<Owner, "email" | "org"> & { readonly token?: string }) {
    this.email = email
    this.org = org
    this.url = url
    this.#token = token ?? ""
  }

  static async make(server: Server): Promise<Owner> {
    const email = await signUp(server)
    const login = await send(`${server.url}/v1/control-plane/auth/login`, { method: "POST", body: { email, password } })
    const token = String(login["access_token"])
    const list = await send(`${server.url}/v1/control-plane/organizations`, { token })
    const [organization] = list["data"] as ReadonlyArray<{ readonly id: string }>
    return new Owner(server.url, { email, org: organization!.id, token })
  }

  /** Calls the control plane. `{org}` in the path is the organization. */
  call(method: "GET" | "POST" | "PATCH" | "PUT" | "DELETE", path: string, body?: Json): Promise<Json> {
    return send(`${this.url}/v1/control-plane/${path.replace("{org}", this.org)}`, { method, body, token: this.#token })
  }

  async createEndpoint(url: string): Promise<string> {
    return String((await this.call("POST", "organizations/{org}/webhook-endpoints", { url, event_types: ["*"] }))["id"])
  }

  async createKey(mode: "test" | "live" = "test"): Promise<string> {
    return String((await this.call("POST", "organizations/{org}/api-keys", { mode, name: "Shop" }))["secret"])
  }

  /** Submits an invoice, and returns its id. */
  async submit(
    key: string,
    name: string,
    options: { readonly xml?: string; readonly scenario?: string; readonly mode?: "online" | "offline" } = {}
  ) {
    const { mode: invoicing_mode = "online", scenario, xml = "<a/>" } = options
    const headers = { "idempotency-key": name, ...(scenario && { "gov-sandbox-scenario": scenario }) }
    const body = { invoice_xml: xml, invoicing_mode, metadata: { order: name } }
    return String((await send(`${this.url}/v1/invoices`, { method: "POST", token: key, headers, body }))["id"])
  }

  /** Logs in on a page, which then shows a screen of the organization. */
  async open(page: Page, path = ""): Promise<void> {
    await page.goto(`${this.url}/console/o/${this.org}${path}`)
    await logIn(page, this.email)
    await page.getByRole("navigation").first().waitFor()
  }

  /** Opens a screen of the organization on a page that is logged in. */
  async show(page: Page, path = ""): Promise<void> {
    await page.goto(`${this.url}/console/o/${this.org}${path}`)
  }
}

const send = async (
  url: string,
  options: {
    readonly method?: string
    readonly token?: string
    readonly headers?: Readonly<Record<string, string>>
    readonly body?: Json | undefined
  }
): Promise<Json> => {
  const { body, headers, method = "GET", token } = options
  const response = await fetch(url, {
    method,
    headers: {
      ...headers,
      ...(body && { "content-type": "application/json" }),
      ...(token && { authorization: `Bearer ${token}` })
    },
    ...(body && { body: JSON.stringify(body) })
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${url}: ${response.status} ${text}`)
  return text === "" ? {} : (JSON.parse(text) as Json)
}

/** Reads until the result is as expected, and returns it. */
export const until = async <A>(read: () => Promise<A>, isExpected: (result: A) => boolean): Promise<A> => {
  for (const deadline = Date.now() + patienceMs; ; await new Promise((resolve) => setTimeout(resolve, 50))) {
    const result = await read()
    if (isExpected(result)) return result
    if (Date.now() > deadline) throw new Error(`Waited in vain: ${JSON.stringify(result).slice(0, 2000)}`)
  }
}
