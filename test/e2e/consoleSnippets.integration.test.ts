/** The snippets of the console, run as they are copied: submissions, and receivers that verify. */
import { execFile, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { connect } from "node:net"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { promisify } from "node:util"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { reach } from "../../apps/console/src/snippets/reach.ts"
import { receivers, rotationVerifier } from "../../apps/console/src/snippets/receiver.ts"
import { curlSubmission, sdkSubmission } from "../../apps/console/src/snippets/submission.ts"
import { en } from "../../apps/console/src/text/en.ts"
import { startReceivers } from "../browser/support/receivers.ts"
import { freePort } from "../support/freePort.ts"
import { type Call, makeCall, readAgreement, signUp, type Tenant, until } from "./support/client.ts"
import { openMigrated, type TestDatabase } from "./support/databases.ts"
import { type Server, startServer } from "./support/server.ts"

const root = join(import.meta.dirname, "../..")
// Here every framework of the snippets is installed, and the package resolves by its own name.
const receiverFolder = join(root, "packages/webhooks")
const clientFolder = join(root, "apps/console")

const node = (code: string) => ["--conditions=source", "--input-type=module", "-e", code] as const

const isOpen = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1")
    socket.once("connect", () => {
      socket.destroy()
      resolve(true)
    })
    socket.once("error", () => resolve(false))
  })

// Debian's PyPy is a Python 3.9, the oldest that the guide promises.
const python = ["pypy3", "python3"].find(
  (name) => spawnSync(name, ["-c", "import sys; assert sys.version_info >= (3, 9)"]).status === 0
)

// The snippet for workers exports its handler: this serves it.
const serveWeb = `
const { createServer } = await import("node:http")
createServer(async (request, response) => {
  const body = await Array.fromAsync(request)
  const answer = await worker.fetch(
    new Request("http://localhost" + request.url, { method: "POST", headers: request.headers, body: Buffer.concat(body) })
  )
  response.writeHead(answer.status).end()
}).listen(process.env["PORT"])
`

describe("the snippets of the console", () => {
  let database: TestDatabase
  let server: Server
  let call: Call
  let tenant: Tenant

  beforeAll(async () => {
    database = await openMigrated()
    server = await startServer({
      ...database.settings,
      GOVOICE_WEBHOOK_ALLOW_HTTP: "true",
      GOVOICE_WEBHOOK_ALLOW_NETWORKS: "127.0.0.0/8"
    })
    call = makeCall(() => server.url, await readAgreement(server.url))
    tenant = await signUp(call)
  })
  afterAll(async () => {
    await server?.stop()
    await database?.drop()
  })

  const invoices = async () => {
    const list = await call("GET", `/v1/control-plane/organizations/${tenant.organizationId}/invoices`, {
      auth: tenant.token
    })
    return (list.json as { readonly data: ReadonlyArray<{ readonly id: string }> }).data
  }

  it("curl: submits an invoice", async () => {
    const before = (await invoices()).length
    const { stdout } = await promisify(execFile)("bash", ["-c", curlSubmission(server.url).code], {
      env: { ...process.env, GOVOICE_API_KEY: tenant.testKey }
    })
    assert.strictEqual((JSON.parse(stdout) as { readonly status: string }).status, "queued")
    assert.lengthOf(await invoices(), before + 1)
  })

  it("curl: names the cause of a connection that fails as the page does", async () => {
    const unreachable = await startReceivers()
    try {
      const { addresses, ofTls } = en.connectionCauses
      const [plain, certificate] = ofTls
      const [unknownName, nothingListens] = addresses
      for (const [url, { output }] of [
        [`${unreachable.untrustedUrl}/hooks?it's=quoted`, certificate],
        ["https://nowhere.invalid/hooks", unknownName!],
        [`http://127.0.0.1:${await freePort()}/hooks`, nothingListens!],
        [unreachable.url.replace("http:", "https:"), plain]
      ] as const) {
        const failed = await promisify(execFile)("bash", ["-c", reach(url).code], {
          env: { PATH: process.env["PATH"] }
        }).then(
          () => assert.fail(url),
          ({ stderr }: { readonly stderr: string }) => stderr
        )
        const others = [...ofTls, ...addresses].filter((cause) => cause.output !== output)
        assert.include(failed, output, url)
        // What is wrong with TLS names SSL, too: the page lists the more exact output first.
        for (const other of others)
          if (output !== plain.output || other !== certificate) assert.notInclude(failed, other.output, url)
      }
    } finally {
      unreachable.close()
    }
  })

  it("@govoice/client: submits an invoice and waits for its verdict", async () => {
    const { stdout } = await promisify(execFile)(process.execPath, node(sdkSubmission(server.url).code), {
      cwd: clientFolder,
      env: { ...process.env, GOVOICE_API_KEY: tenant.testKey }
    })
    assert.match(stdout, /^inv_\w+ accepted\n$/)
  })

  it("@govoice/webhooks: takes both secrets of a rotation", async () => {
    await promisify(execFile)(process.execPath, node(rotationVerifier.code), {
      cwd: receiverFolder,
      env: { ...process.env, NEW_WEBHOOK_SECRET: "whsec_new", WEBHOOK_SECRET: "whsec_old" }
    })
  })

  it.each(receivers("https://example.com/").map(({ name }) => name))(
    "%s: the receiver takes a webhook that verifies, and refuses another",
    async (name) => {
      if (name === "Python" && python === undefined) return
      const port = await freePort()
      const url = `http://127.0.0.1:${port}/hooks/govoice`
      const made = await call("POST", `/v1/control-plane/organizations/${tenant.organizationId}/webhook-endpoints`, {
        auth: tenant.token,
        body: { url, event_types: ["invoice.received"] }
      })
      const { id, secret } = made.json as { readonly id: string; readonly secret: string }
      const { code } = receivers(url).find((form) => form.name === name)!
      const [command, ...args] =
        name === "Python"
          ? [python, "-c", code]
          : [
              process.execPath,
              ...node(name === "Web" ? code.replace("export default", "const worker =") + serveWeb : code)
            ]
      const receiver = spawn(command!, args, {
        cwd: receiverFolder,
        env: { ...process.env, PORT: String(port), WEBHOOK_SECRET: secret },
        stdio: ["ignore", "pipe", "inherit"]
      })
      try {
        let output = ""
        receiver.stdout.setEncoding("utf8").on("data", (chunk: string) => (output += chunk))
        while (!(await isOpen(port))) {
          assert.isNull(receiver.exitCode, "the receiver ended")
          await sleep(50)
        }
        await call("POST", "/v1/invoices", {
          auth: tenant.testKey,
          headers: { "idempotency-key": `receiver-${name}` },
          body: { invoice_xml: "<a/>" }
        })
        await until(
          () =>
            call("GET", `/v1/control-plane/webhook-endpoints/${id}/deliveries?status=succeeded`, {
              auth: tenant.token
            }),
          ({ json }) => (json as { readonly data: ReadonlyArray<unknown> }).data.length === 1
        )
        assert.include(output, "invoice.received")
        const forged = await fetch(url, {
          method: "POST",
          headers: {
            "content-type": "application/json",
            "gov-event-id": "evt_01m7q5cqg0e6786ptds43fm4k3",
            "gov-timestamp": new Date().toISOString(),
            "gov-signature": `v1=${"0".repeat(64)}`
          },
          body: "{}"
        })
        assert.strictEqual(forged.status, 400)
        assert.strictEqual((await fetch(url, { method: "POST", body: "{}" })).status, 400, "without the headers")
      } finally {
        receiver.kill("SIGKILL")
        await once(receiver, "close")
        await call("DELETE", `/v1/control-plane/webhook-endpoints/${id}`, { auth: tenant.token })
      }
    }
  )
})
