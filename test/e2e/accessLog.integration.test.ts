/** The access log, and the line of a stop: one JSON line each, with nothing of a request but its method. */
import { assert, describe, it } from "vitest"
import { openMigrated } from "./support/databases.ts"
import { launchServer } from "./support/server.ts"

const secret = "sk_test_of-nobody"

const paths = ["/healthz?token=hidden", `/v1/invoices/${secret}?token=hidden`, `/unknown/${secret}`]

// Starts a server, makes the requests, stops it, and returns its log.
const logOf = async (mode: string, environment: Record<string, string> = {}) => {
  const database = await openMigrated()
  const server = await launchServer({ ...database.settings, GOVOICE_ACCESS_LOG: mode, ...environment })
  const api = await server.started()
  const requestIds: Array<string | null> = []
  for (const path of paths) {
    const response = await fetch(`${api}${path}`, { headers: { authorization: `Bearer ${secret}` } })
    requestIds.push(response.headers.get("request-id"))
    await response.arrayBuffer()
  }
  const login = await fetch(`${api}/v1/control-plane/auth/login`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ email: "nobody@example.com", password: "hidden password" })
  })
  requestIds.push(login.headers.get("request-id"))
  await login.arrayBuffer()
  assert.strictEqual(await server.stop(), 0)
  await database.drop()
  const lines = server.log.filter(({ message }) => message === "Request completed")
  return { lines, requestIds, stdout: server.stdout, log: server.log }
}

describe("access log", () => {
  it("all: each request has a line at any log level, without path, query, body and credentials", async () => {
    const { lines, requestIds, stdout } = await logOf("all", { GOVOICE_LOG_LEVEL: "Error" })
    const requests = lines.map(({ annotations }) => {
      const { duration_ms, ...rest } = annotations as { readonly duration_ms: number }
      assert.isAbove(duration_ms, 0)
      return rest
    })
    assert.deepStrictEqual(requests, [
      { request_id: requestIds[0], method: "GET", route: "/healthz", status: 200 },
      { request_id: requestIds[1], method: "GET", route: "/v1/invoices/:id", status: 401 },
      { request_id: requestIds[2], method: "GET", route: "unmatched", status: 404 },
      { request_id: requestIds[3], method: "POST", route: "/v1/control-plane/auth/login", status: 401 }
    ] as ReadonlyArray<unknown>)
    assert.notMatch(stdout, /hidden|of-nobody|nobody@example\.com/)
  })

  it("errors: requests with a status of 400 and above have a line", async () => {
    const { lines, log } = await logOf("errors")
    assert.deepStrictEqual(
      lines.map(({ annotations }) => (annotations as { readonly status: number }).status),
      [401, 404, 401]
    )
    const stops = log.filter(({ message }) => message === "Server stopping")
    assert.deepStrictEqual(
      stops.map(({ annotations }) => annotations),
      [{ signal: "SIGTERM", grace_ms: 14_900 }] as ReadonlyArray<unknown>
    )
  })

  it("off: no request has a line", async () => {
    assert.deepStrictEqual((await logOf("off")).lines, [])
  })
})
