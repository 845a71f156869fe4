/** Two cells, each with a Postgres of its own, and what reaches them. */
import { randomBytes } from "node:crypto"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type Cell, type Cells, startCells } from "./cells.ts"
import { installedPrograms, named } from "../support/cluster.ts"

interface Answer {
  readonly status: number
  readonly cell: string | null
  readonly body: Record<string, unknown> & { readonly error: { readonly code: string } }
}

const ask = async (url: string, method: string, path: string, token?: string, body?: object): Promise<Answer> => {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      "idempotency-key": randomBytes(12).toString("hex")
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
  const text = await response.text()
  return {
    status: response.status,
    cell: response.headers.get("gov-cell"),
    body: (text === "" ? {} : JSON.parse(text)) as Answer["body"]
  }
}

const control = "/v1/control-plane"

describe.skipIf(installedPrograms === undefined)(named("two cells"), () => {
  let cells: Cells
  let token: string

  beforeAll(async () => {
    cells = await startCells()
    const owner = { email: "owner@example.com", password: "correct horse battery" }
    await ask(cells.a.url, "POST", `${control}/accounts`, undefined, owner)
    const login = await ask(cells.a.url, "POST", `${control}/auth/login`, undefined, owner)
    token = login.body["access_token"] as string
  })
  afterAll(() => cells?.close())

  /** Creates an organization that lives in a cell. The bucket is random. */
  const organizationIn = async ({ name }: Cell): Promise<string> => {
    for (;;) {
      const { body, status } = await ask(cells.a.url, "POST", `${control}/organizations`, token, { name: "Company" })
      assert.strictEqual(status, 201, JSON.stringify(body))
      const id = body["id"] as string
      const { rows } = await cells.a.deployment.pool.query<{ cell: string }>(
        "SELECT cell FROM cell_buckets WHERE bucket = $1",
        [id.slice(14, 16)]
      )
      if (rows[0]!.cell === name) return id
    }
  }

  it("are in the directory, each with half of the buckets", async () => {
    const { a, b } = cells
    const shown = await a.deployment.run("cells status")
    assert.match(shown, /^a {13}http\S+ {2}512 buckets, \d+ organizations, control cell$/m)
    assert.match(shown, /^b {13}http\S+ {2}512 buckets, \d+ organizations$/m)
    assert.match(shown, /^slot of b: in use/m)
    assert.match(await b.deployment.run("cells status"), /^subscription: running, 0 tables incomplete/m)
    // Both commands can be run again.
    await a.deployment.run(`cells init --url ${a.url}`)
    await b.deployment.run(`cells add --url ${b.url}`)
  })

  it("serve an organization in its cell alone, and the control plane of accounts in the control cell", async () => {
    const { a, b } = cells
    // At once: the session and the organization arrive in the other cell meanwhile.
    const id = await organizationIn(b)
    const created = await ask(b.url, "POST", `${control}/organizations/${id}/api-keys`, token, { mode: "test" })
    assert.strictEqual(created.status, 201, JSON.stringify(created.body))
    const key = created.body["secret"] as string
    const keyPath = `${control}/api-keys/${String(created.body["id"])}`

    const invoice = { invoice_xml: "<Faktura/>" }
    assert.strictEqual((await ask(b.url, "POST", "/v1/invoices", key, invoice)).status, 201)
    assert.strictEqual((await ask(b.url, "GET", "/v1/me", key)).status, 200)

    const wrong: ReadonlyArray<readonly [Cell, string, string, (string | undefined)?, object?]> = [
      [a, "POST", "/v1/invoices", key, invoice],
      [a, "GET", "/v1/me", key],
      [a, "GET", `${control}/organizations/${id}`, token],
      [a, "GET", `${control}/organizations/${id}/invoices`, token],
      [a, "DELETE", keyPath, token],
      [a, "DELETE", keyPath.replace("_", "%5F"), token],
      [b, "POST", `${control}/organizations`, token, { name: "Company" }],
      [b, "GET", `${control}/organizations`, token],
      [b, "PATCH", `${control}/organizations/${id}`, token, { name: "Other" }],
      [b, "GET", `${control}/account`, token],
      [b, "POST", `${control}/auth/login`, undefined, {}],
      [b, "POST", "/console/session", undefined, {}]
    ]
    for (const [cell, method, path, bearer, body] of wrong) {
      const answer = await ask(cell.url, method, path, bearer, body)
      const right = cell === a ? "b" : "a"
      assert.deepStrictEqual([answer.status, answer.body.error.code, answer.cell], [421, "wrong_cell", right], path)
    }

    const renamed = await ask(a.url, "PATCH", `${control}/organizations/${id}`, token, { name: "Other" })
    assert.strictEqual(renamed.body["name"], "Other")
    // What is of no organization is answered by every cell.
    for (const { url } of [a, b]) {
      assert.strictEqual((await ask(url, "GET", "/readyz")).status, 200)
      assert.strictEqual((await ask(url, "GET", "/v1/me", "wrong")).status, 401)
    }
  })

  it("answer that a row is on its way while replication stands still", async () => {
    const { a, b } = cells
    await b.deployment.pool.query("ALTER SUBSCRIPTION govoice_control DISABLE")
    const id = await organizationIn(b)
    const path = `${control}/organizations/${id}`
    const early = await ask(b.url, "GET", path, token)
    assert.deepStrictEqual([early.status, early.body.error.code], [503, "service_unavailable"])
    assert.match(await a.deployment.run("cells status"), /^slot of b: NOT IN USE/m)
    assert.match(await b.deployment.run("cells status"), /^subscription: NOT RUNNING/m)
    await b.deployment.pool.query("ALTER SUBSCRIPTION govoice_control ENABLE")
    const later = await ask(b.url, "GET", path, token)
    assert.strictEqual(later.status, 200, JSON.stringify(later.body))
  })
})
