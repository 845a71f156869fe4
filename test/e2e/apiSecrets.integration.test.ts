/**
 * Secrets, passwords, tokens and documents appear in no log line at any level, no error, no trace and no metric. The
 * database has only hashes and ciphertexts of secrets.
 */
import { createPrivateKey, randomUUID } from "node:crypto"
import { once } from "node:events"
import { createServer } from "node:http"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { create } from "../support/databases.ts"
import { freePort } from "../support/freePort.ts"
import { makePair } from "../../packages/ksef/test/support/certificates.ts"
import { type Answer, problemOf } from "./support/agreement.ts"
import { makeCall, password, readAgreement, signUp, submit, type Tenant, until } from "./support/client.ts"
import { operationsOf, optionsOf } from "./support/operations.ts"
import { secrets, type Server, startServer } from "./support/server.ts"

describe("a server with the log level Trace", () => {
  let database: Awaited<ReturnType<typeof create>>
  let server: Server
  let metricsPort: number
  let traces = ""
  // Records the traces that the server exports.
  const collector = createServer((request, response) => {
    request.on("data", (chunk: Buffer) => (traces += chunk.toString("latin1")))
    request.on("end", () => response.end("{}"))
  })

  beforeAll(async () => {
    database = await create()
    collector.listen(0, "127.0.0.1")
    await once(collector, "listening")
    const address = collector.address()
    metricsPort = await freePort()
    server = await startServer({
      DATABASE_URL: database.url,
      ...secrets,
      GOVOICE_LOG_LEVEL: "Trace",
      GOVOICE_METRICS_PORT: String(metricsPort),
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`
    })
  })
  afterAll(async () => {
    await server?.stop()
    collector.close()
    await database?.drop()
  })

  it("writes no secret to its log, responses, traces, metrics or tables", async () => {
    const answers: Array<Answer> = []
    const plain = makeCall(() => server.url, await readAgreement(server.url))
    const call: typeof plain = async (...request) => {
      const answer = await plain(...request)
      answers.push(answer)
      return answer
    }
    const secret = `secret-${randomUUID()}`
    const credential = `credential-${randomUUID()}`
    const headerValue = `header-${randomUUID()}`
    const xml = `<Faktura><P_2>${secret}</P_2></Faktura>`
    const tenant: Tenant = await signUp(call)
    const told = new Set([
      password,
      tenant.token,
      tenant.token.split(".")[2]!,
      tenant.refreshToken,
      tenant.testKey,
      tenant.liveKey,
      tenant.endpointSecret,
      secret,
      credential,
      headerValue,
      ...Object.values(secrets),
      new URL(database.url).password === "postgres" ? "postgres:postgres" : new URL(database.url).password
    ])

    const { id } = (await submit(call, tenant.testKey, { body: { invoice_xml: xml, metadata: { note: secret } } }))
      .json as { readonly id: string }
    await submit(call, tenant.testKey, { body: { invoice_xml: `<a>${secret}` } })
    await submit(call, tenant.testKey, { body: { invoice_xml: xml, metadata: { note: [secret] } } })
    await submit(call, tenant.testKey, { headers: { "gov-sandbox-scenario": secret } })
    await submit(call, tenant.testKey, { raw: `{"invoice_xml":"${secret}` })
    await call("POST", "/v1/control-plane/accounts", { body: { email: secret, password: [secret] } })
    await call("POST", "/v1/control-plane/auth/login", { body: { email: `${secret}@example.com`, password: secret } })
    await call("POST", "/v1/control-plane/auth/refresh", { body: { refresh_token: secret } })
    await call("GET", "/v1/me", { auth: `sk_test_${secret}` })
    await call("GET", "/v1/control-plane/account", { auth: secret })
    const credentialPath = `/v1/control-plane/organizations/${tenant.organizationId}/gateway-credential`
    const pair = makePair({ key: "P-256" })
    const plainKey = secretLines(pair.privateKey)
    const passphrase = `passphrase-${randomUUID()}`
    const encryptedKey = createPrivateKey(pair.privateKey)
      .export({ type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase })
      .toString()
    for (const value of [...plainKey, ...secretLines(encryptedKey), passphrase]) told.add(value)
    const certificate = {
      type: "certificate",
      certificate: pair.certificate,
      context: { type: "Nip", value: "5265877635" }
    }
    for (const body of [
      { ...certificate, private_key: encryptedKey, private_key_password: passphrase },
      { ...certificate, private_key: encryptedKey, private_key_password: secret },
      { ...certificate, private_key: encryptedKey },
      { ...certificate, private_key: pair.privateKey.replace("END PRIVATE", "END PUBLIC") },
      { ...certificate, private_key: makePair({ key: "rsa" }).privateKey },
      { ...certificate, certificate: pair.privateKey, private_key: pair.privateKey },
      { ...certificate, private_key: pair.privateKey, private_key_password: [secret] },
      {
        token: `20261122-EC-0|nip-1111111111|${Buffer.from(secret).toString("hex").padEnd(64, "0").slice(0, 64)}`,
        context: { type: "Nip", value: "5265877635" }
      },
      { ...certificate, private_key: pair.privateKey },
      { token: credential, context: { type: "Nip", value: "5265877635" } }
    ]) {
      await call("PUT", credentialPath, { auth: tenant.token, body })
      const described = await call("GET", credentialPath, { auth: tenant.token })
      for (const value of told) assert.isFalse(described.text.includes(value), "a description has a secret in it")
    }
    await call("POST", `/v1/control-plane/organizations/${tenant.organizationId}/webhook-endpoints`, {
      auth: tenant.token,
      body: { url: `https://user:${secret}@example.com`, event_types: ["*"] }
    })
    const receiver = await call("POST", `/v1/control-plane/organizations/${tenant.organizationId}/webhook-endpoints`, {
      auth: tenant.token,
      body: { url: `https://nowhere.invalid/${secret}`, event_types: ["*"], headers: { "X-Api-Key": headerValue } }
    })
    told.add((receiver.json as { readonly secret: string }).secret)
    await submit(call, tenant.testKey, { body: { invoice_xml: xml } })
    await until(
      () => call("GET", `/v1/invoices/${id}/upo`, { auth: tenant.testKey }),
      ({ status }) => status === 200
    )
    await database.run("ALTER SCHEMA public RENAME TO elsewhere")
    for (const operation of operationsOf(tenant, id)) {
      const options = optionsOf(operation, { key: tenant.testKey, token: tenant.token })
      await call(operation.method, operation.path, options)
    }
    await database.run("ALTER SCHEMA elsewhere RENAME TO public")
    for (const operation of operationsOf(tenant, id)) {
      const options = optionsOf(operation, { key: tenant.testKey, token: tenant.token })
      const { json } = await call(operation.method, operation.path, options)
      const made = (json ?? {}) as {
        readonly secret?: string
        readonly refresh_token?: string
        readonly access_token?: string
      }
      for (const value of [made.secret, made.refresh_token, made.access_token]) if (value !== undefined) told.add(value)
    }
    const tables = await everything(database)
    assert.include(tables, secret, "the document and its metadata are stored unchanged")
    for (const value of told) {
      if (value === secret) continue
      for (const form of [value, Buffer.from(value).toString("hex"), Buffer.from(value).toString("base64")]) {
        assert.isFalse(tables.includes(form), `the database contains ${value.slice(0, 12)}…: ${around(tables, form)}`)
      }
    }

    const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
    assert.include(metrics, "# TYPE", "there are metrics")
    await server.stop()
    assert.include(traces, "SubmitInvoice.submit", "there are traces")

    const log = server.output()
    assert.include(log, "Request failed with a defect", "the log has seen defects")
    assert.include(log, '"level":"DEBUG"', "the log has seen requests")
    for (const value of told) {
      assert.isFalse(metrics.includes(value), `the metrics contain ${value.slice(0, 12)}…`)
      assert.isFalse(traces.includes(value), `the traces contain it: ${around(traces, value)}`)
      assert.isFalse(log.includes(value), `the log contains ${value.slice(0, 12)}…: ${around(log, value)}`)
      for (const answer of answers) {
        if (answer.status >= 400) assert.isFalse(answer.text.includes(value), problemOf(answer).code)
      }
    }
    for (const text of [log, traces, metrics]) assert.notMatch(text, /Faktura|Potwierdzenie|\$argon2/)
  })
})

/** Every row of every table, as text. */
const everything = async ({ run }: Awaited<ReturnType<typeof create>>): Promise<string> => {
  const names = (await run("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")) as ReadonlyArray<{
    readonly tablename: string
  }>
  assert.isAbove(names.length, 10)
  const rows = await Promise.all(names.map(({ tablename }) => run(`SELECT t::text AS row FROM ${tablename} AS t`)))
  return JSON.stringify(rows)
}

/** The lines of a key in PEM, and its content on one line. */
const secretLines = (pem: string): ReadonlyArray<string> => {
  const lines = pem.split("\n").filter((line) => line.length >= 20 && !line.startsWith("-----"))
  assert.isAbove(lines.length, 0)
  return [...lines, lines.join("")]
}

const around = (text: string, value: string): string => {
  const at = text.indexOf(value)
  return text.slice(Math.max(0, at - 200), at + 200)
}
