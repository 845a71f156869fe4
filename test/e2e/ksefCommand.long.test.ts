/** `govoice ksef` and `govoice doctor` as they are shipped, with Postgres and the simulator. */
import { spawn } from "node:child_process"
import { createPrivateKey } from "node:crypto"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { create, createMigrated } from "../support/databases.ts"
import { type Simulator, startSimulator } from "../../packages/ksef-simulator/src/index.ts"
import { makePair } from "../../packages/ksef/test/support/certificates.ts"
import { file as pkcs12 } from "../../packages/ksef/test/support/pkcs12.ts"
import { builtCommand } from "./support/build.ts"
import { makeCall, readAgreement, signUp, until } from "./support/client.ts"
import { secrets, startServer } from "./support/server.ts"

describe("govoice ksef", () => {
  const folder = mkdtempSync(join(tmpdir(), "govoice-ksef-"))
  const organization = `org_${"0".repeat(25)}1`
  let database: Awaited<ReturnType<typeof create>>
  let simulator: Simulator
  let command: string

  beforeAll(async () => {
    command = await builtCommand()
    database = await create()
    simulator = await startSimulator({ processingMs: 0 })
    await run(["migrate"])
    await database.run(`
      INSERT INTO accounts (id, created_at, email, password_hash)
      VALUES ('acct_${"0".repeat(26)}', now(), 'owner@example.com', 'x')
    `)
    await database.run(`
      INSERT INTO organizations (id, account_id, name, created_at)
      VALUES ('${organization}', 'acct_${"0".repeat(26)}', 'Example', now())
    `)
  })
  afterAll(async () => {
    await simulator?.close()
    await database?.drop()
    rmSync(folder, { recursive: true })
  })

  /** Runs a command with what it reads from standard input. */
  const run = (args: ReadonlyArray<string>, input = "", changes: Readonly<Record<string, string>> = {}) =>
    new Promise<{ readonly code: number | null; readonly output: string }>((resolve) => {
      const child = spawn(process.execPath, [command, ...args], {
        env: {
          PATH: process.env["PATH"],
          NO_COLOR: "1",
          DATABASE_URL: database.url,
          ...secrets,
          ...(simulator === undefined ? {} : { GOVOICE_KSEF_URL: simulator.url }),
          ...changes
        }
      })
      let output = ""
      child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text))
      child.stderr.setEncoding("utf8").on("data", (text: string) => (output += text))
      child.once("close", (code) => resolve({ code, output }))
      child.stdin.end(input)
    })

  const of = ["--organization", organization] as const
  const put = (input: string, ...args: ReadonlyArray<string>) =>
    run(["ksef", "credential", "put", ...of, "--context", simulator.nip, ...args], input)

  it("stores a token, tries it, shows it without its secret, and removes it", async () => {
    const stored = await put(`${simulator.token}\n`)
    assert.strictEqual(stored.code, 0, stored.output)

    const shown = await run(["ksef", "credential", "show", ...of])
    assert.match(
      shown.output,
      new RegExp(`type +ksef_token\ncontext +Nip ${simulator.nip}\nenvironment +${simulator.url}`)
    )
    assert.match(shown.output, /state +unchecked/)
    const json = await run(["ksef", "credential", "show", ...of, "--json"])
    assert.deepInclude(JSON.parse(json.output), {
      object: "gateway_credential",
      type: "ksef_token",
      state: "unchecked"
    })

    const checked = await run(["ksef", "check", ...of])
    assert.strictEqual(checked.code, 0, checked.output)
    assert.match(checked.output, /permissions .*InvoiceWrite/)
    assert.match(checked.output, /invoiceSend: 10\/s, 30\/min, 180\/h/)
    assert.notMatch(checked.output, /missing/)

    for (const { output } of [stored, shown, json, checked]) assert.notInclude(output, simulator.token.slice(-40))

    const removed = await run(["ksef", "credential", "remove", ...of])
    assert.strictEqual(removed.code, 0, removed.output)
    assert.match((await run(["ksef", "credential", "show", ...of])).output, /No credential is stored/)
    const [row] = await database.run(`SELECT credential, credential_context FROM organizations`)
    assert.deepStrictEqual(row, { credential: null, credential_context: null })
  })

  it("ends the login at KSeF of a credential that it removes", async () => {
    const own = await createMigrated()
    const settings = { DATABASE_URL: own.url, GOVOICE_LIVE_MODE: "true", GOVOICE_KSEF_URL: simulator.url }
    const server = await startServer({ ...secrets, ...settings })
    try {
      const call = makeCall(() => server.url, await readAgreement(server.url))
      const { organizationId, token: auth } = await signUp(call)
      const path = `/v1/control-plane/organizations/${organizationId}/gateway-credential`
      const body = { token: simulator.token, context: { type: "Nip", value: simulator.nip } }
      assert.strictEqual((await call("PUT", path, { auth, body })).status, 204)
      await until(
        () => call("GET", path, { auth }),
        ({ json }) => (json as { readonly state: string }).state === "accepted"
      )
      const stored = () =>
        own.run(`SELECT credential IS NOT NULL AS credential, (SELECT count(*)::int FROM national_logins) AS logins
                 FROM organizations`)
      assert.deepStrictEqual(await stored(), [{ credential: true, logins: 1 }])
      const revocations = () => simulator.ledger.calls().filter(({ operation }) => operation === "revokeCurrentLogin")
      const before = revocations().length

      const removed = await run(["ksef", "credential", "remove", "--organization", organizationId], "", settings)
      assert.strictEqual(removed.code, 0, removed.output)
      assert.deepStrictEqual(await stored(), [{ credential: false, logins: 0 }])
      assert.deepStrictEqual(
        revocations()
          .slice(before)
          .map(({ status }) => status),
        [204]
      )
    } finally {
      await server.stop()
      await own.drop()
    }
  })

  it("stores a certificate with an encrypted key, and logs in with it", async () => {
    const files = [join(folder, "auth.crt"), join(folder, "auth.key")] as const
    writeFileSync(files[0], simulator.certificate.certificate)
    const encrypted = createPrivateKey(simulator.certificate.privateKey).export({
      type: "pkcs8",
      format: "pem",
      cipher: "aes-256-cbc",
      passphrase: "secret"
    })
    writeFileSync(files[1], encrypted)
    const flags = ["--certificate", files[0], "--private-key", files[1]]
    const wrong = await put("other\n", ...flags)
    assert.strictEqual(wrong.code, 1)
    assert.match(wrong.output, /The credential cannot be stored: The password of the private key is wrong/)
    const stored = await put("secret\n", ...flags)
    assert.strictEqual(stored.code, 0, stored.output)
    const checked = await run(["ksef", "check", ...of, "--json"])
    assert.strictEqual(checked.code, 0, checked.output)
    assert.deepInclude(JSON.parse(checked.output), {
      type: "certificate",
      context: { type: "Nip", value: simulator.nip },
      missing: []
    })
  })

  it("says why a credential is refused, and which right is missing", async () => {
    assert.strictEqual((await put(`${simulator.token.slice(0, -1)}x`)).code, 0)
    const refused = await run(["ksef", "check", ...of])
    assert.strictEqual(refused.code, 1)
    assert.match(refused.output, /credential_invalid: KSeF refuses the login: invalid token/)

    const weak = simulator.issueToken({ context: simulator.nip, permissions: ["InvoiceRead"] })
    assert.strictEqual((await put(weak)).code, 0)
    const checked = await run(["ksef", "check", ...of])
    assert.strictEqual(checked.code, 1)
    assert.match(checked.output, /missing +InvoiceWrite: sends invoices/)
  })

  it.each<[what: string, args: ReadonlyArray<string>, code: number, message: RegExp]>([
    ["no flags", ["ksef", "credential", "put"], 2, /organization/],
    [
      "an unknown organization",
      ["ksef", "credential", "show", "--organization", "org_x"],
      1,
      /no organization "org_x"/
    ],
    [
      "a certificate without a key",
      ["ksef", "credential", "put", "--organization", organization, "--context", "5265877635", "--certificate", "x"],
      1,
      /both --certificate and --private-key/
    ],
    [
      "a wrong NIP",
      ["ksef", "credential", "put", "--organization", organization, "--context", "1"],
      1,
      /The credential cannot be stored: context\.value must be a NIP/
    ],
    [
      "a wrong internal identifier",
      ["ksef", "credential", "put", "--organization", organization, "--context", "5265877635-12345"],
      1,
      /The credential cannot be stored: context\.value must be an internal identifier: a NIP/
    ]
  ])("explains %s", async (_, args, code, message) => {
    const result = await run(args, "a token")
    assert.strictEqual(result.code, code, result.output)
    assert.match(result.output, message)
  })

  it("settles an invoice whose status no rule covers, and refuses others", async () => {
    const invoice = `inv_${"0".repeat(26)}`
    await database.run(`
      INSERT INTO invoices (id, organization_id, created_at, updated_at, due_at, mode, status, metadata)
      VALUES ('${invoice}', '${organization}', now(), now(), now(), 'live', 'submitted', '{}')
    `)
    await database.run(`
      WITH session AS (
        INSERT INTO national_sessions (organization_id, context, created_at, kind, state, reference)
        VALUES ('${organization}', '${simulator.nip}', now(), 'online', 'done', 'reference') RETURNING id
      )
      INSERT INTO national_submissions (session_id, organization_id, invoice_id, context, created_at, due_at, state, sha256, code)
      SELECT id, '${organization}', '${invoice}', '${simulator.nip}', now(), now(), 'sent', sha256('x'), 450 FROM session
    `)
    const settle = (...args: ReadonlyArray<string>) => run(["ksef", "settle", "--invoice", invoice, ...args])
    const withoutOutcome = await settle()
    assert.strictEqual(withoutOutcome.code, 1)
    assert.match(withoutOutcome.output, /Name the outcome: --failed/)
    const documented = await settle("--failed")
    assert.strictEqual(documented.code, 1)
    assert.match(documented.output, /has the status 450 of KSeF \(.+\), which Govoice decides by itself/)

    await database.run(`UPDATE national_submissions SET code = 299`)
    const settled = await settle("--failed")
    assert.strictEqual(settled.code, 0, settled.output)
    assert.include(settled.output, `Invoice ${invoice} failed with unknown_verdict: its status 299 is polled no more`)
    const again = await settle("--failed")
    assert.strictEqual(again.code, 0, again.output)
    assert.match(again.output, /was settled before. Nothing changed/)
    const [events] = await database.run(`SELECT count(*)::int AS n FROM events WHERE type = 'invoice.failed'`)
    assert.deepStrictEqual(events, { n: 1 })
  })

  it("stores an offline certificate with an encrypted key, shows and removes it, and refuses another type", async () => {
    const subject = [["2.5.4.3", "\u009B2J\u202E"]] as const
    const pair = makePair({ key: "P-256", keyUsage: ["nonRepudiation"], serial: "01f20a5d352ae590", subject })
    const files = { certificate: join(folder, "offline.crt"), key: join(folder, "offline.key") }
    writeFileSync(files.certificate, pair.certificate)
    writeFileSync(files.key, pair.key.export({ type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase: "pw" }))
    const putOffline = (input: string) =>
      run(
        ["ksef", "offline-certificate", "put", ...of, "--certificate", files.certificate, "--private-key", files.key],
        input
      )
    const wrong = await putOffline("other\n")
    assert.strictEqual(wrong.code, 1)
    assert.match(wrong.output, /The certificate cannot be stored: The password .* is wrong/)
    const stored = await putOffline("pw\n")
    assert.strictEqual(stored.code, 0, stored.output)
    assert.match(stored.output, /It signs until \d{4}-/)

    const shown = await run(["ksef", "offline-certificate", "show", ...of])
    assert.match(shown.output, /serial number +01F20A5D352AE590\n/)
    // A terminal would take what the owner of the organization wrote as commands.
    assert.include(shown.output, "CN=\\u009b2J\\u202e")
    assert.match(
      (await run(["doctor"])).output,
      /WARN +ksef +The offline certificates of 1 organizations expire within 30/
    )
    assert.strictEqual((await run(["ksef", "offline-certificate", "remove", ...of])).code, 0)
    const gone = await run(["ksef", "offline-certificate", "show", ...of, "--json"])
    assert.isFalse((JSON.parse(gone.output) as { readonly present: boolean }).present)

    const bundle = join(folder, "offline.p12")
    writeFileSync(bundle, pkcs12)
    const both = await run(["ksef", "offline-certificate", "put", ...of, "--certificate", bundle], "zażółć\n")
    assert.strictEqual(both.code, 0, both.output)

    writeFileSync(files.certificate, simulator.certificate.certificate)
    writeFileSync(files.key, simulator.certificate.privateKey)
    assert.match((await putOffline("")).output, /Authentication certificate.*type Offline/)
  })

  it("needs an environment", async () => {
    const { code, output } = await run(["ksef", "status"], "", { GOVOICE_KSEF_URL: "http://127.0.0.1:1" })
    assert.strictEqual(code, 1)
    assert.match(output, /GOVOICE_KSEF_URL must be/)
  })

  it("shows the beacon and what waits", async () => {
    await database.run(`
      INSERT INTO national_lanes (context, due_at, blocked) VALUES ('5265877635', now(), '{"invoiceSend": {"until": 1}}')
      ON CONFLICT (context) DO UPDATE SET blocked = excluded.blocked
    `)
    const { code, output } = await run(["ksef", "status"])
    assert.strictEqual(code, 0, output)
    assert.include(output, `environment  ${simulator.url}`)
    assert.match(output, /beacon +AVAILABLE/)
    assert.match(output, /lanes +\d+, 0 leased, \d+ due/)
    assert.match(output, /blocked +5265877635: .*invoiceSend/)
    assert.match(output, /unsent +0\npending +0/)
    const json = JSON.parse((await run(["ksef", "status", "--json"])).output) as Record<string, unknown>
    assert.deepInclude(json, { configured: simulator.url, unsent: 0, pending: 0 })
  })

  it("doctor finds an unreachable environment, refused and expiring credentials, tokens, and late verdicts", async () => {
    const doctor = async (changes: Readonly<Record<string, string>> = {}) => (await run(["doctor"], "", changes)).output
    assert.strictEqual((await put(simulator.token)).code, 0)
    const healthy = await doctor()
    assert.match(healthy, /ok +ksef +http\S+ answers/)
    assert.match(healthy, /ok +ksef +its clock agrees/)
    // From December on, it names them.
    assert.match(healthy, /WARN +ksef +(1 organizations log|org_\w+ logs) in with tokens, .* 2026-12-31/)
    assert.notMatch(healthy, /refuses the|expire within|no verdict/)

    await database.run(`
      UPDATE organizations SET credential_state = 'refused', credential_refusal = '{"code":"credential_revoked","message":"x"}',
             credential_expires_at = now() + interval '29 days'
    `)
    const ill = await doctor()
    assert.match(
      ill,
      new RegExp(`WARN +ksef +KSeF refuses the credentials of 1 organizations, such as ${organization}`)
    )
    assert.match(ill, /WARN +ksef +The credentials of 1 organizations expire within 30 days/)

    await database.run(`INSERT INTO national_environment (environment) VALUES ('prod')`)
    assert.match(await doctor(), /WARN +ksef +The database belongs to the environment prod, and the settings name http/)
    await database.run(`DELETE FROM national_environment`)

    const away = await doctor({ GOVOICE_KSEF_URL: "http://127.0.0.1:9/v2" })
    assert.match(away, /FAIL +ksef +http:\/\/127\.0\.0\.1:9\/v2 does not answer/)
    assert.notMatch(away, /log in with tokens/)
  })

  it("doctor finds a clock that differs from that of KSeF", async () => {
    const skewed = await startSimulator({ now: () => Date.now() - 60_000 })
    const { output } = await run(["doctor"], "", { GOVOICE_KSEF_URL: skewed.url })
    await skewed.close()
    assert.match(output, /FAIL +ksef +The clock differs from that of KSeF by (?:59|60) s/)
  })
})
