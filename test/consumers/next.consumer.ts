/**
 * Next.js builds and runs an application with the packages: a page of the server waits for an invoice, a route receives webhooks.
 */
import { signedWebhook } from "@govoice/webhooks/testing"
import { spawn, type ChildProcess } from "node:child_process"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { makeProject, type Project } from "../packaging/support/project.ts"
import { freePort } from "../support/freePort.ts"
import { invoice, type Service, startService } from "./support/service.ts"

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwlongenough0"

// The data cache of 14 caches what does not say otherwise.
const versions = [
  { next: "14.2.35", react: "18.3.1" },
  ...(process.env["CONSUMERS"] === "all" ? [{ next: "16.4.6", react: "19.3.1" }] : [])
]

const files = (url: string) => ({
  "next.config.mjs": "export default { experimental: { cpus: 1 } }",
  "app/layout.js": "export default ({ children }) => <html><body>{children}</body></html>",
  // Next.js calls it at build time, and keeps what `fetch` got, unless it is told that the answer must be fresh.
  "app/page.js": `
import { createClient } from "@govoice/client"

const { invoices } = createClient({ apiKey: "sk_test_0", baseUrl: "${url}" })

export default async function Page() {
  const submitted = await invoices.submit({ invoiceXml: "<Faktura/>" })
  const final = await invoices.waitUntilFinal("${invoice.id}", { deadlineMs: 20_000 })
  return <p>{"submitted " + submitted.status + ", then " + final.status}</p>
}`,
  "app/webhooks/route.js": `
import { createHandler } from "@govoice/webhooks/web"

export const POST = createHandler({ secret: "${secret}" }, ({ event }) => console.log(event.type))`
})

describe.each(versions)("Next.js $next", ({ next, react }) => {
  let service: Service
  let project: Project
  let server: ChildProcess | undefined
  let url: string
  beforeAll(async () => {
    service = await startService()
    project = makeProject({
      packages: ["@govoice/client", "@govoice/webhooks"],
      others: { next, react, "react-dom": react }
    })
    mkdirSync(join(project.folder, "app/webhooks"), { recursive: true })
    for (const [name, text] of Object.entries(files(service.url))) project.write(name, text)
    const environment = { NEXT_TELEMETRY_DISABLED: "1" }
    await project.execute(process.execPath, ["node_modules/next/dist/bin/next", "build"], environment)
    const port = await freePort()
    url = `http://127.0.0.1:${port}`
    server = spawn(process.execPath, ["node_modules/next/dist/bin/next", "start", "-H", "127.0.0.1", "-p", `${port}`], {
      cwd: project.folder,
      env: { ...process.env, ...environment },
      stdio: "ignore"
    })
    while (
      !(await fetch(url).then(
        () => true,
        () => false
      ))
    )
      await sleep(100)
  })
  afterAll(() => {
    server?.kill("SIGKILL")
    service?.close()
    project?.remove()
  })

  it("submits, and polls fresh answers until one is final", async () => {
    const page = await (await fetch(url)).text()
    assert.include(page, "submitted queued, then accepted")
    assert.isAtLeast(service.requests.filter((line) => line === `GET /v1/invoices/${invoice.id}`).length, 2)
  })

  it("receives a webhook that verifies, and refuses another", async () => {
    const { body, headers } = signedWebhook({ secret, type: "invoice.accepted" })
    const post = (text: string) => fetch(`${url}/webhooks`, { method: "POST", headers, body: text })
    assert.deepStrictEqual([(await post(body)).status, (await post(`${body} `)).status], [204, 400])
  })
})
