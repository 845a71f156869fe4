/**
 * The API of Govoice as a process, without rate limits, and a key of it.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { randomUUID } from "node:crypto"
import { join } from "node:path"

const root = join(import.meta.dirname, "../..")

/** A server that listens. */
export interface Running {
  readonly url: string
  readonly pid: number
  readonly stop: () => void
}

/** Starts the API on a database. */
export const startGovoice = async (
  databaseUrl: string,
  settings: Readonly<Record<string, string>> = {}
): Promise<Running> => {
  const child: ChildProcess = spawn(process.execPath, ["--conditions=source", join(root, "apps/server/src/main.ts")], {
    env: {
      PATH: process.env["PATH"],
      PORT: "0",
      DATABASE_URL: databaseUrl,
      GOVOICE_ROLE: "api",
      GOVOICE_JWT_SECRET: "a secret of the benchmark, long enough to sign with",
      GOVOICE_ENCRYPTION_KEYS: `k1:${Buffer.alloc(32, 1).toString("base64")}`,
      GOVOICE_RATE_LIMIT_PER_SECOND: "1000000",
      GOVOICE_RATE_LIMIT_BYTES_PER_SECOND: "1000000000",
      GOVOICE_RATE_LIMIT_BURST: "1000000",
      ...settings
    },
    stdio: ["ignore", "ignore", "pipe"]
  })
  let output = ""
  for await (const chunk of child.stderr!) {
    output += String(chunk)
    const url = /API +(?<url>\S+)\/v1/.exec(output)?.groups?.["url"]
    if (url === undefined) continue
    return { url, pid: child.pid!, stop: () => void child.kill("SIGTERM") }
  }
  throw new Error(`The server did not start: ${output}`)
}

const call = async (url: string, path: string, body: object, token?: string): Promise<Record<string, string>> => {
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const answer = await fetch(url + path, {
    method: "POST",
    headers: { "content-type": "application/json", ...authorization },
    body: JSON.stringify(body)
  })
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
  return (await answer.json()) as Record<string, string>
}

/** Signs up, and makes a test key. */
export const makeKey = async (url: string): Promise<string> => {
  const credentials = { email: `${randomUUID()}@example.com`, password: "correct horse battery" }
  await call(url, "/v1/control-plane/accounts", credentials)
  const { access_token } = await call(url, "/v1/control-plane/auth/login", credentials)
  const { id } = await call(url, "/v1/control-plane/organizations", { name: "Benchmark" }, access_token)
  const key = await call(url, `/v1/control-plane/organizations/${id}/api-keys`, { mode: "test" }, access_token)
  return key["secret"]!
}
