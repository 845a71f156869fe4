/** Deployments whose API or sign-up is closed, or whose limits are reached. */
import { randomUUID } from "node:crypto"
import { readFile } from "node:fs/promises"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { CertificateLink } from "../../../packages/ksef/src/crypto.ts"
import { makePair } from "../../../packages/ksef/test/support/certificates.ts"
import { type Agreement, type Answer, problemOf } from "../support/agreement.ts"
import { type Call, makeCall, password, readAgreement, signUp, submit, type Tenant, until } from "../support/client.ts"
import { openMigrated, type TestDatabase } from "../support/databases.ts"
import { operationsOf } from "../support/operations.ts"
import { type Server, startServer } from "../support/server.ts"
import { codeOf, control, record, everyId } from "./suite.ts"

/** Registers the tests. */
export const testDeployments = (onAgreement: (agreement: Agreement) => void): void => {
  describe("deployments that are closed or overloaded", () => {
    let database: TestDatabase
    let servers: ReadonlyArray<Server> = []
    let tenant: Tenant
    let agreement: Agreement
    const callOf = (server: Server | undefined): Call => makeCall(() => server!.url, agreement)

    beforeAll(async () => {
      database = await openMigrated()
      const all = { ...database.settings, GOVOICE_ROLE: "api" }
      const open = await startServer(all)
      servers = [open]
      agreement = await readAgreement(open.url)
      onAgreement(agreement)
      tenant = await signUp(callOf(open))
      servers = [
        open,
        ...(await Promise.all([
          startServer({ ...all, GOVOICE_API_ENABLED: "false" }),
          startServer({ ...all, GOVOICE_SIGNUP: "closed" }),
          startServer({
            ...all,
            GOVOICE_RATE_LIMIT_PER_SECOND: "1",
            GOVOICE_RATE_LIMIT_BURST: "3",
            GOVOICE_ACCOUNT_RATE_LIMIT_PER_SECOND: "1"
          }),
          startServer({ ...all, GOVOICE_LIVE_MODE: "true", GOVOICE_KSEF_URL: "http://127.0.0.1:9/v2" })
        ]))
      ]
    })

    afterAll(async () => {
      await Promise.all(servers.map((server) => server.stop()))
      await database?.drop()
    })

    it("answer api_disabled on every path below /v1, before any other check", async () => {
      const call = callOf(servers[1])
      for (const operation of operationsOf(tenant, "inv_x")) {
        const answer = await call(operation.method, operation.path, {
          raw: operation.body === undefined ? undefined : "{"
        } as object)
        assert.strictEqual(codeOf(answer), "api_disabled", operation.id)
      }
      for (const path of ["/v1", "/v1/nope", "/%76%31/me", "/v1/me;x"]) {
        assert.strictEqual(codeOf(await call("GET", path)), "api_disabled", path)
      }
      assert.strictEqual(codeOf(await call("DELETE", "/v1/me")), "api_disabled")
      assert.strictEqual((await call("GET", "/healthz")).status, 200)
    })

    it("answer signup_disabled to new accounts, and log in existing ones", async () => {
      const call = callOf(servers[2])
      const body = { email: "late@example.com", password }
      assert.strictEqual(codeOf(await call("POST", `${control}/accounts`, { body })), "signup_disabled")
      const login = await call("POST", `${control}/auth/login`, { body: { email: tenant.email, password } })
      assert.strictEqual(login.status, 200)
    })

    it("have the rest of the limit in every response, refuse requests beyond it, and accept them after Retry-After", async () => {
      const call = callOf(servers[3])
      let answers: Array<Answer> = []
      // On a busy machine, the second after which a request comes back can end among the four.
      for (let attempt = 0; attempt < 10; attempt++) {
        answers = []
        const startedAt = Date.now()
        for (let time = 0; time < 4; time++) answers.push(await call("GET", "/v1/me", { auth: tenant.testKey }))
        if (Date.now() - startedAt < 900) break
        await new Promise((resolve) => setTimeout(resolve, 4000))
      }
      assert.deepStrictEqual(answers.map(codeOf), ["200", "200", "200", "rate_limit_exceeded"])
      for (const answer of answers) {
        assert.strictEqual(answer.headers.get("ratelimit-policy"), '"default";q=3;w=3')
        assert.match(answer.headers.get("ratelimit") ?? "", /^"default";r=\d+;t=\d+$/)
      }
      assert.deepStrictEqual(
        answers.map((answer) => /r=(\d+)/.exec(answer.headers.get("ratelimit") ?? "")?.[1]),
        ["2", "1", "0", "0"]
      )
      // The limit stands before headers and body, and belongs to one key.
      for (const operation of operationsOf(tenant, "inv_x").filter(({ auth }) => auth === "key")) {
        const answer = await until(
          () => call(operation.method, operation.path, { auth: tenant.testKey, raw: operation.body && "{" } as object),
          (answer) => codeOf(answer) === "rate_limit_exceeded"
        )
        assert.strictEqual(problemOf(answer).retryable, true)
      }
      assert.strictEqual((await call("GET", "/v1/me", { auth: tenant.liveKey })).status, 200)
      const refused = await until(
        () => call("GET", "/v1/me", { auth: tenant.testKey }),
        (answer) => codeOf(answer) === "rate_limit_exceeded"
      )
      await new Promise((resolve) => setTimeout(resolve, Number(refused.headers.get("retry-after")) * 1000))
      assert.strictEqual((await call("GET", "/v1/me", { auth: tenant.testKey })).status, 200)
    })

    it("limit an account on every path of the control plane, before headers and body are checked", async () => {
      const call = callOf(servers[3])
      let limited = await signUp(callOf(servers[0]))
      const callLimited = async (method: string, path: string, raw?: string) =>
        call(method, path, { auth: limited.token, raw } as object)
      const callAtLimit = async (operation: ReturnType<typeof operationsOf>[number]): Promise<Answer> => {
        await until(
          () => callLimited("GET", `${control}/organizations`),
          (answer) => codeOf(answer) === "rate_limit_exceeded"
        )
        const answer = await callLimited(operation.method, operation.path, operation.body && "{")
        if (codeOf(answer) === "rate_limit_exceeded") return answer
        // A token came back in the meantime, and the operation may have ended the session.
        limited = await signUp(callOf(servers[0]))
        return callAtLimit(operation)
      }
      for (const operation of operationsOf(limited, "inv_x").filter(({ auth }) => auth === "token")) {
        const answer = await callAtLimit(operation)
        assert.isAtLeast(Number(answer.headers.get("retry-after")), 1, operation.id)
      }
    })

    it("refuse logins of an email after 20 failures in a minute, also concurrent ones, and log in others", async () => {
      const call = callOf(servers[0])
      const victim = await signUp(call)
      const login = (email: string, given: string) =>
        call("POST", `${control}/auth/login`, { body: { email, password: given } })
      const answers = await Promise.all(
        Array.from({ length: 30 }, (_, index) =>
          login(index % 2 === 0 ? victim.email : victim.email.toUpperCase(), "not the password")
        )
      )
      const codes = answers.map(codeOf)
      assert.strictEqual(codes.filter((code) => code === "invalid_credentials").length, 20)
      assert.strictEqual(codes.filter((code) => code === "rate_limit_exceeded").length, 10)
      const right = await login(victim.email, password)
      assert.strictEqual(codeOf(right), "rate_limit_exceeded", "not even a right password is confirmed")
      assert.isAtMost(Number(right.headers.get("retry-after")), 60)
      assert.strictEqual((await login(tenant.email, password)).status, 200)
    })

    it("refuse an address after 100 logins, refreshes, logouts or accounts in a minute, each alone, whatever its headers", async () => {
      const call = callOf(servers[2])
      const flood = async (path: string, body: object) => {
        for (let time = 0; time < 110; time++) {
          const headers = { "x-forwarded-for": `192.0.2.${time}`, forwarded: `for=192.0.2.${time}` }
          const answer = await call("POST", path, { body, headers })
          if (codeOf(answer) === "rate_limit_exceeded") return time
        }
        return Infinity
      }
      assert.strictEqual(await flood(`${control}/auth/refresh`, { refresh_token: "of nobody" }), 100)
      assert.strictEqual(await flood(`${control}/auth/logout`, { refresh_token: "of nobody" }), 100)
      const open = callOf(servers[0])
      const taken = { email: tenant.email, password }
      const floodAccounts = Array.from({ length: 10 }, async () => {
        for (let time = 0; time < 12; time++) {
          const answer = await open("POST", `${control}/accounts`, { body: taken })
          if (codeOf(answer) === "rate_limit_exceeded") return true
        }
        return false
      })
      assert.include(await Promise.all(floodAccounts), true)
      const floodLogins = Array.from({ length: 10 }, async () => {
        for (let time = 0; time < 12; time++) {
          const answer = await open("POST", `${control}/auth/login`, { body: taken })
          if (codeOf(answer) === "rate_limit_exceeded") return true
        }
        return false
      })
      assert.include(await Promise.all(floodLogins), true)
    })

    it("create one invoice for 50 concurrent duplicates at two processes", async () => {
      const calls = [callOf(servers[0]), callOf(servers[2])]
      const headers = { "idempotency-key": randomUUID() }
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, index) => submit(calls[index % 2]!, tenant.testKey, { headers }))
      )
      assert.deepStrictEqual(new Set(answers.map(({ status }) => status)), new Set([201]))
      assert.strictEqual(new Set(answers.map(({ text }) => text)).size, 1)
      const first = answers.filter(({ headers }) => headers.get("idempotent-replayed") === null)
      assert.lengthOf(first, 1)
    })

    it("answer live_mode_unavailable to live keys with live mode on until a credential is stored", async () => {
      const call = callOf(servers[4])
      const fresh = await signUp(call)
      const isAvailable = async () =>
        record(await call("GET", "/v1/me", { auth: fresh.liveKey }))["live_mode_available"]
      assert.strictEqual(await isAvailable(), false)
      assert.strictEqual(codeOf(await submit(call, fresh.liveKey)), "live_mode_unavailable")
      assert.deepStrictEqual(await everyId(call, fresh), [])
      const stored = await call("PUT", `${control}/organizations/${fresh.organizationId}/gateway-credential`, {
        auth: fresh.token,
        body: { token: "a token of the national system", context: { type: "Nip", value: "5265877635" } }
      })
      assert.strictEqual(stored.status, 204)
      assert.strictEqual(await isAvailable(), true)
    })

    it("issue live invoices offline with a certificate alone, and answer a repetition without one", async () => {
      const call = callOf(servers[4])
      const fresh = await signUp(call)
      const organization = `${control}/organizations/${fresh.organizationId}`
      const put = (path: string, body: Readonly<Record<string, unknown>>) =>
        call("PUT", `${organization}/${path}`, { auth: fresh.token, body })
      await put("gateway-credential", {
        token: "a token of the national system",
        context: { type: "Nip", value: "1111111111" }
      })
      const invoice_xml = await readFile(new URL("../../../examples/invoices/fa3-vat23.xml", import.meta.url), "utf8")
      const headers = { "idempotency-key": randomUUID() }
      const issue = () => submit(call, fresh.liveKey, { body: { invoice_xml, invoicing_mode: "offline" }, headers })

      const refused = await issue()
      assert.strictEqual(codeOf(refused), "offline_not_available", refused.text)
      assert.deepStrictEqual(await everyId(call, fresh), [])

      const pair = makePair({ key: "P-256", keyUsage: ["nonRepudiation"], serial: "01f20a5d352ae590" })
      const offline = { certificate: pair.certificate, private_key: pair.privateKey }
      assert.strictEqual((await put("offline-certificate", offline)).status, 204)
      const issued = await issue()
      assert.strictEqual(issued.status, 201, issued.text)
      const url = (record(issued)["verification"] as Record<string, string>)["certificate_url"]!
      const parts = "127.0.0.1:9/certificate/Nip/1111111111/5265877635/01F20A5D352AE590/"
      assert.isTrue(url.startsWith(`http://${parts}`), url)
      assert.isTrue(CertificateLink.verify(url, pair.publicKey))

      await call("DELETE", `${organization}/offline-certificate`, { auth: fresh.token })
      const again = await issue()
      assert.strictEqual(again.headers.get("idempotent-replayed"), "true")
      assert.strictEqual(again.text, issued.text)
      const another = { body: { invoice_xml, invoicing_mode: "offline" } }
      assert.strictEqual(codeOf(await submit(call, fresh.liveKey, another)), "offline_not_available")
    })

    it("refuse a revoked key in every process within a minute", async () => {
      const [here, , elsewhere] = servers
      const there = callOf(elsewhere)
      const fresh = await until(
        () => callOf(servers[0])("GET", `${control}/account`, { auth: tenant.token }),
        ({ status }) => status === 200
      )
      assert.strictEqual(fresh.status, 200)
      const made = record(
        await callOf(here)("POST", `${control}/organizations/${tenant.organizationId}/api-keys`, {
          auth: tenant.token,
          body: { mode: "test" }
        })
      )
      const auth = String(made["secret"])
      assert.strictEqual((await there("GET", "/v1/me", { auth })).status, 200)
      await callOf(here)("DELETE", `${control}/api-keys/${String(made["id"])}`, { auth: tenant.token })
      await until(
        () => there("GET", "/v1/me", { auth }),
        (answer) => codeOf(answer) === "missing_api_key",
        60_000
      )
    })
  })
}
