/** Resets of passwords by mail, with a bundled server and an SMTP server. */
import { randomUUID } from "node:crypto"
import { createServer, type Server as TcpServer } from "node:net"
import type { AddressInfo } from "node:net"
import { Pool } from "pg"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { openMailbox, type Mailbox } from "../support/mailbox.ts"
import { openMigrated, type TestDatabase } from "./support/databases.ts"
import { type Server, startServer } from "./support/server.ts"
import { patienceMs } from "../support/patienceMs.ts"

const oldPassword = "correct horse battery"
const newPassword = "a better battery staple"

describe("a password reset by mail", () => {
  let mailbox: Mailbox
  let database: TestDatabase
  let pool: Pool
  let server: Server
  beforeAll(async () => {
    mailbox = await openMailbox()
    database = await openMigrated()
    pool = new Pool({ connectionString: database.settings["DATABASE_URL"], max: 1 })
    server = await startServer({
      ...database.settings,
      ...mailbox.settings,
      GOVOICE_PUBLIC_URL: "https://govoice.example.com/"
    })
  })
  afterAll(async () => {
    await server?.stop()
    await mailbox?.close()
    await pool?.end()
    await database?.drop()
  })

  const post = (path: string, body: object, url = server.url) =>
    fetch(`${url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", origin: url },
      body: JSON.stringify(body)
    })
  const request = (email: string, language = "en") => post("/console/password-reset", { email, language })
  const confirm = (token: string, password: string) => post("/console/password-reset/confirm", { token, password })
  const logIn = (email: string, password: string) => post("/v1/control-plane/auth/login", { email, password })
  const signUp = async (): Promise<string> => {
    const email = `owner-${randomUUID()}@example.com`
    assert.strictEqual((await post("/v1/control-plane/accounts", { email, password: oldPassword })).status, 201)
    return email
  }
  const tokenOf = (text: string): string =>
    /^https:\/\/govoice\.example\.com\/console\/reset#([\w-]{43})\r?$/m.exec(text)![1]!

  it("replaces the password once, and ends all sessions", async () => {
    const email = await signUp()
    const session = (await (await logIn(email, oldPassword)).json()) as { readonly refresh_token: string }
    const before = mailbox.mails.length
    assert.strictEqual((await request(email)).status, 204)
    await mailbox.until(before + 1)
    const { text, to } = mailbox.mails[before]!
    assert.deepStrictEqual(to, [email])
    const token = tokenOf(text)

    const short = await confirm(token, "too short")
    assert.strictEqual(short.status, 422)
    assert.deepInclude(((await short.json()) as { readonly error: object }).error, {
      code: "invalid_parameter",
      param: "password"
    })
    assert.strictEqual((await confirm(token, newPassword)).status, 204)
    const again = await confirm(token, newPassword)
    assert.strictEqual(again.status, 422)
    assert.include(await again.text(), '"param":"token"')

    assert.strictEqual((await logIn(email, oldPassword)).status, 401)
    assert.strictEqual((await logIn(email, newPassword)).status, 200)
    const refresh = await post("/v1/control-plane/auth/refresh", { refresh_token: session.refresh_token })
    assert.strictEqual(refresh.status, 401)
  })

  it("answers alike for an unknown email, and sends it nothing", async () => {
    const email = await signUp()
    const known = await request(email)
    const unknown = await request(`nobody-${randomUUID()}@example.com`)
    assert.deepStrictEqual([known.status, await known.text()], [unknown.status, await unknown.text()])
    await mailbox.until(mailbox.mails.length)
    assert.isEmpty(mailbox.mails.filter(({ to }) => to.some((address) => address.startsWith("nobody-"))))
  })

  it("sends one mail within five minutes, in the language of the page", async () => {
    const email = await signUp()
    await request(email, "pl")
    await request(email, "pl")
    const mine = () => mailbox.mails.filter(({ to }) => to.includes(email))
    const deadline = Date.now() + patienceMs
    while (mine().length === 0 && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 50))
    const [mail, ...more] = mine()
    assert.deepStrictEqual(more, [])
    assert.include(mail!.text, "ustawić nowe hasło")
  })

  it("is void once it has expired", async () => {
    const email = await signUp()
    const count = mailbox.mails.length
    await request(email)
    await mailbox.until(count + 1)
    const token = tokenOf(mailbox.mails[count]!.text)
    await pool.query("UPDATE accounts SET reset_expires_at = clock_timestamp() WHERE email = $1", [email])
    assert.strictEqual((await confirm(token, newPassword)).status, 422)
  })

  it("is sent again after the SMTP server refused it, and holds up no other request meanwhile", async () => {
    const email = await signUp()
    mailbox.refuse = true
    await request(email)
    const deadline = Date.now() + patienceMs
    while (!server.output().includes("Mail not sent") && Date.now() < deadline)
      await new Promise((resolve) => setTimeout(resolve, 50))
    assert.include(server.output(), "Mail not sent; it is sent again later")
    assert.notInclude(server.output(), email)
    mailbox.refuse = false
    const count = mailbox.mails.length
    // A minute passes.
    await pool.query("UPDATE accounts SET reset_due_at = clock_timestamp() WHERE email = $1", [email])
    await mailbox.until(count + 1)
    assert.strictEqual((await confirm(tokenOf(mailbox.mails[count]!.text), newPassword)).status, 204)
  })

  it("does not prevent a start, readiness or a stop while the SMTP server hangs", async () => {
    const silent: TcpServer = createServer(() => {})
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve))
    const { port } = silent.address() as AddressInfo
    const connected = new Promise((resolve) => silent.once("connection", resolve))
    const email = await signUp()
    const other = await startServer({
      GOVOICE_DATA_DIR: "memory",
      GOVOICE_SMTP_URL: `smtp://127.0.0.1:${port}`,
      GOVOICE_MAIL_FROM: "govoice@example.com",
      GOVOICE_PUBLIC_URL: "https://govoice.example.com"
    })
    assert.strictEqual(
      (await post("/v1/control-plane/accounts", { email, password: oldPassword }, other.url)).status,
      201
    )
    assert.strictEqual((await post("/console/password-reset", { email, language: "en" }, other.url)).status, 204)
    await connected
    assert.strictEqual((await fetch(`${other.url}/readyz`)).status, 200)
    assert.strictEqual(await other.stop(), 0)
    silent.close()
  })
})

describe("a server without SMTP", () => {
  it("tells the page so, and resets nothing", async () => {
    const server = await startServer({ GOVOICE_DATA_DIR: "memory" })
    const config = (await (await fetch(`${server.url}/console/config.json`)).json()) as object
    assert.deepInclude(config, { password_reset: false })
    const answer = await fetch(`${server.url}/console/password-reset`, {
      method: "POST",
      headers: { "content-type": "application/json", origin: server.url },
      body: JSON.stringify({ email: "owner@example.com", language: "en" })
    })
    assert.strictEqual(answer.status, 404)
    await server.stop()
  })
})
