/** Two cells, each with a Postgres of its own, and what reaches them. */
import { randomBytes } from "node:crypto"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { sleep, until } from "../faults/deployment.ts"
import { freePort } from "../support/freePort.ts"
import { type Cell, type Cells, clusterSettings, isInstalled, named, Proxy, startCells } from "./cells.ts"

interface ApiProblem {
  readonly code: string
  readonly message: string
  readonly param: string | null
}

interface Answer {
  readonly status: number
  readonly cell: string | null
  readonly body: Record<string, unknown> & { readonly error: ApiProblem }
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
  const isJson = response.headers.get("content-type")?.startsWith("application/json") === true
  return {
    status: response.status,
    cell: response.headers.get("gov-cell"),
    body: (isJson ? JSON.parse(text) : {}) as Answer["body"]
  }
}

const control = "/v1/control-plane"

describe.skipIf(!isInstalled)(named("two cells"), () => {
  let cells: Cells
  let proxy: Proxy
  let token: string

  beforeAll(async () => {
    cells = await startCells()
    proxy = await Proxy.start(cells.a)
    const owner = { email: "owner@example.com", password: "correct horse battery" }
    await ask(cells.a.url, "POST", `${control}/accounts`, undefined, owner)
    const login = await ask(cells.a.url, "POST", `${control}/auth/login`, undefined, owner)
    token = login.body["access_token"] as string
  })
  afterAll(async () => {
    await proxy?.close()
    await cells?.close()
  })

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

  it("are judged by the doctor, and named by their metrics", async () => {
    const { a, b } = cells
    const judge = async (cell: Cell) => {
      const text = await cell.deployment.run("doctor")
      return text.split("\n").filter((line) => line.includes("  cells  "))
    }
    assert.deepStrictEqual(
      (await judge(a)).map((line) => line.replace(/\d+\.\d MiB/, "0.0 MiB")),
      ["ok    cells      the control cell of 2", "ok    cells      b reads the control tables, 0.0 MiB behind"]
    )
    assert.deepStrictEqual(await judge(b), ["ok    cells      the control tables arrive here"])
    const port = await freePort()
    const worker = await b.deployment.startWorker({ PORT: "0", GOVOICE_METRICS_PORT: String(port) })
    const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
    assert.include(metrics, 'govoice_build_info{cell="b",')
    assert.isEmpty(metrics.split("\n").filter((line) => /^[a-z]/.test(line) && !line.includes('{cell="b"')))
    await worker.stop()
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

  it("refuse commands that would write in the wrong cell", async () => {
    const { a, b } = cells
    const id = await organizationIn(b)
    await b.deployment.run(`organizations limit ${id} 20`)
    const refusals: ReadonlyArray<readonly [Cell, string, string]> = [
      [a, `organizations limit ${id} 20`, "lives in cell b"],
      [a, `ksef credential remove --organization ${id}`, "lives in cell b"],
      [b, "account create other@example.com", "from the control cell"],
      [b, "account reset-password owner@example.com", "from the control cell"],
      [a, "account create other@example.com --organization Company", "may live in another cell"]
    ]
    for (const [cell, command, reason] of refusals) {
      const refusal = await cell.deployment.run(command).then(
        () => "it succeeded",
        (error: unknown) => String(error)
      )
      assert.include(refusal, reason, command)
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

  /** An organization with an API key, made over the proxy. */
  const memberOf = async (cell: Cell) => {
    const id = await organizationIn(cell)
    const path = `${control}/organizations/${id}`
    const { body, status } = await ask(proxy.url, "POST", `${path}/api-keys`, token, { mode: "test" })
    assert.strictEqual(status, 201, JSON.stringify(body))
    return { id, path, key: body["secret"] as string, keyPath: `${control}/api-keys/${String(body["id"])}` }
  }

  it("are reached over the proxy by API key and by path", async () => {
    const { a, b } = cells
    for (const cell of [a, b]) {
      const { key, keyPath, path } = await memberOf(cell)
      const submitted = await ask(proxy.url, "POST", "/v1/invoices", key, { invoice_xml: "<Faktura/>" })
      assert.strictEqual(submitted.status, 201, JSON.stringify(submitted.body))
      const stored = await cell.deployment.count(`invoices WHERE id = '${String(submitted.body["id"])}'`)
      assert.strictEqual(stored, 1)
      const url = "https://hooks.example.com/govoice"
      const endpoint = await ask(proxy.url, "POST", `${path}/webhook-endpoints`, token, { url, event_types: ["*"] })
      assert.strictEqual(endpoint.status, 201, JSON.stringify(endpoint.body))
      const calls: ReadonlyArray<readonly [string, string, number, object?]> = [
        ["GET", path, 200],
        ["PATCH", path, 200, { name: "Renamed" }],
        ["GET", `${path}/invoices`, 200],
        ["GET", `${control}/webhook-endpoints/${String(endpoint.body["id"])}`, 200],
        ["DELETE", keyPath, 204]
      ]
      for (const [method, path, status, body] of calls) {
        const answer = await ask(proxy.url, method, path, token, body)
        assert.strictEqual(answer.status, status, `${method} ${path} ${JSON.stringify(answer.body)}`)
      }
      // The name comes back from the control cell.
      await until("the name", async () => (await ask(proxy.url, "GET", path, token)).body["name"] === "Renamed", 5000)
    }
    assert.strictEqual((await ask(proxy.url, "GET", `${control}/account`, token)).status, 200)
    assert.strictEqual((await ask(proxy.url, "GET", `${control}/organizations`, token)).status, 200)
    assert.strictEqual((await fetch(`${proxy.url}/console/`)).status, 200)
    assert.strictEqual((await ask(proxy.url, "GET", "/v1/me", "wrong")).status, 401)
    assert.strictEqual((await ask(proxy.url, "GET", `${control}/organizations/org_wrong`, token)).status, 404)
  })

  it("name the cell of an organization that has moved, and the proxy follows with the body", async () => {
    const { a, b } = cells
    const { id, path } = await memberOf(a)
    const bucket = id.slice(14, 16)
    const give = (cell: Cell) =>
      a.deployment.pool.query("UPDATE cell_buckets SET cell = $1 WHERE bucket = $2", [cell.name, bucket])
    await give(b)
    await until("the new cell", async () => (await ask(b.url, "GET", path, token)).status === 200, 10_000)
    await until("the old cell", async () => (await ask(a.url, "GET", path, token)).status === 421, 10_000)
    const made = await ask(proxy.url, "POST", `${path}/api-keys`, token, { mode: "test", name: "n".repeat(100) })
    assert.strictEqual(made.status, 201, JSON.stringify(made.body))
    assert.strictEqual(await b.deployment.count(`api_keys WHERE id = '${String(made.body["id"])}'`), 1)
    await give(a)
    await until("the way back", async () => (await ask(a.url, "GET", path, token)).status === 200, 10_000)
  })

  it("serve a taxpayer in live mode in one of them", async () => {
    const { a, b } = cells
    const [ofA, alsoOfA, ofB] = [await memberOf(a), await memberOf(a), await memberOf(b)]
    const store = ({ path }: { readonly path: string }, value: string) =>
      ask(proxy.url, "PUT", `${path}/gateway-credential`, token, {
        type: "ksef_token",
        context: { type: value.includes("-") ? "InternalId" : "Nip", value },
        token: "a-token"
      })
    const [first, second] = ["5265877635", "1111111111"]
    // Whoever stores a credential has no taxpayer yet.
    assert.strictEqual((await store(ofB, first!)).status, 204)
    assert.strictEqual((await store(ofA, first!)).status, 204)
    assert.strictEqual((await store(alsoOfA, first!)).status, 204)
    assert.strictEqual((await store(ofB, second!)).status, 204)
    // KSeF has accepted them.
    await a.deployment.pool.query("INSERT INTO cell_taxpayers (nip, cell) VALUES ($1, 'a'), ($2, 'b')", [first, second])
    for (const [member, context, cell] of [
      [ofB, first, "a"],
      [ofB, `${first}-12346`, "a"],
      [ofA, second, "b"]
    ] as const) {
      const { body, status } = await store(member, context!)
      assert.strictEqual(status, 422, JSON.stringify(body))
      const { message, param } = body.error
      assert.strictEqual(param, "context")
      assert.include(message, `govoice cells move ${member.id} --to ${cell}.`)
    }
    // What was stored before stays.
    assert.deepStrictEqual((await ask(proxy.url, "GET", `${ofB.path}/gateway-credential`, token)).body["context"], {
      type: "Nip",
      value: second
    })
  })

  it("fail apart: while one is down, the other serves all, and the first returns by itself", async () => {
    const { a, b } = cells
    const [ofA, ofB] = [await memberOf(a), await memberOf(b)]
    const results = { a: new Map<number, number>(), b: new Map<number, number>() }
    const over = new AbortController()
    const submitted: Array<string> = []
    const load = async (name: "a" | "b", { key, path }: { readonly key: string; readonly path: string }) => {
      while (!over.signal.aborted) {
        const posted = await ask(proxy.url, "POST", "/v1/invoices", key, { invoice_xml: "<Faktura/>" }).catch(
          () => undefined
        )
        const read = await ask(proxy.url, "GET", path, token).catch(() => undefined)
        if (posted?.status === 201) submitted.push(String(posted.body["id"]))
        for (const status of [posted?.status ?? 0, read?.status ?? 0]) {
          results[name].set(status, (results[name].get(status) ?? 0) + 1)
        }
        await sleep(20)
      }
    }
    const running = [load("a", ofA), load("b", ofB)]
    await sleep(2000)
    await a.stop()
    // Longer than anything that a process remembers for a while: sessions, keys, the directory.
    await sleep(10_000)
    const unavailable = await ask(proxy.url, "GET", "/v1/me", ofA.key).catch(() => undefined)
    assert.strictEqual(unavailable?.status, 503)
    const startedAt = Date.now()
    await a.cluster.start(clusterSettings)
    await a.start()
    await until("cell a", async () => (await ask(proxy.url, "GET", "/v1/me", ofA.key)).status === 200, 30_000)
    const againMs = Date.now() - startedAt
    // What the control cell creates arrives in the other again. The subscription connects again within seconds; until then the
    // answer is 503, which clients repeat.
    await until("a new organization in cell b", () => memberOf(b).then(() => true), 30_000)
    over.abort()
    await Promise.all(running)

    assert.deepStrictEqual(
      [...results.b.keys()].toSorted((left, right) => left - right),
      [200, 201],
      "cell b has no error"
    )
    assert.isAbove(results.a.get(201) ?? 0, 10)
    assert.isAbove(results.a.get(503) ?? 0, 10)
    const stored = await Promise.all(
      [a, b].map(({ deployment }) => deployment.pool.query<{ id: string }>("SELECT id FROM invoices"))
    )
    const ids = new Set(stored.flatMap(({ rows }) => rows.map(({ id }) => id)))
    assert.isEmpty(submitted.filter((id) => !ids.has(id)))
    const counts = (name: "a" | "b") => JSON.stringify(Object.fromEntries(results[name]))
    console.info(
      `answers of a ${counts("a")}, of b ${counts("b")}; a was served again ${againMs} ms after its start began`
    )
  })
})
