/**
 * Runs each program of the READMEs and guides as it is shown, in a process of its own, against a server or as a receiver.
 *
 * `quickStarts` runs those that a page has its reader save, `packages/webhooks/test/docs.test.ts` those about webhooks, and
 * `packages/ksef-simulator/test/recipes.test.ts` those of the simulator.
 */
import { signedWebhook } from "@govoice/webhooks/testing"
import { spawn } from "node:child_process"
import { cpSync, globSync, mkdirSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { afterAll, assert, beforeAll, describe, it, vi } from "vitest"
import { freePort } from "../support/freePort.ts"
import { type Fence, fences, makeScratch, read, withAssertions } from "../support/snippets.ts"
import { makeCall, password, readAgreement, signUp, type Tenant } from "./support/client.ts"
import { blocksOf } from "./support/quickStart.ts"
import { type Server, startServer } from "./support/server.ts"

const root = resolve(import.meta.dirname, "../..")
const elsewhere = ["docs/guides/webhooks.md", "packages/webhooks/README.md", "packages/ksef-simulator/README.md"]
const pages = globSync(
  ["README.md", "docs/contents/Home.md", "docs/guides/*.md", "{packages,apps,examples}/*/README.md"],
  { cwd: root }
)
  .filter((page) => !elsewhere.includes(page))
  .sort()

const isSaved = ({ code, file }: Fence): boolean =>
  file.startsWith("docs/") && blocksOf(file).some(({ saveAs, text }) => saveAs !== undefined && text === `${code}\n`)

const programs = read(pages, fences).filter((block) => block.language === "ts" && !isSaved(block))

const isReceiver = ({ code }: Fence): boolean => code.includes(".listen(4000")
const secret = "whsec_kfUZ5zdM0s0m5sLzu0Md5ZZ3g1vSyrIhrVOTm0VbTPw"

describe("the programs of READMEs and guides", () => {
  const scratch = makeScratch("programs")
  let server: Server
  let tenant: Tenant
  beforeAll(async () => {
    server = await startServer({ GOVOICE_DATA_DIR: "memory" })
    tenant = await signUp(makeCall(() => server.url, await readAgreement(server.url)))
    mkdirSync(scratch.path("receipts"))
    for (const folder of ["invoices", "examples/invoices"])
      cpSync(join(root, "examples/invoices"), scratch.path(folder), { recursive: true })
  })
  afterAll(async () => {
    await server?.stop()
    scratch.remove()
  })

  const start = (program: Fence, port: number) => {
    const path = scratch.path(`program-${programs.indexOf(program)}.ts`)
    // Nothing is sent to hosts of others.
    const code = withAssertions(program.code)
      .replaceAll("http://127.0.0.1:3000", server.url)
      .replaceAll("https://example.com", "https://example.invalid")
      .replaceAll(".listen(4000", `.listen(${port}`)
    writeFileSync(path, code)
    const child = spawn(process.execPath, ["--conditions=source", path], {
      cwd: scratch.path("."),
      env: {
        PATH: process.env["PATH"],
        GOVOICE_URL: server.url,
        GOVOICE_API_KEY: tenant.testKey,
        GOVOICE_EMAIL: tenant.email,
        GOVOICE_PASSWORD: password,
        WEBHOOK_SECRET: secret
      },
      stdio: ["ignore", "pipe", "pipe"]
    })
    let output = ""
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => (output += text))
    const ended = new Promise<number | null>((resolve) => child.once("close", resolve))
    return { ended, output: () => output, kill: () => child.kill("SIGKILL") }
  }

  it("are found", () => {
    assert.isAtLeast(programs.length, 20)
    assert.isAtLeast(programs.filter(isReceiver).length, 1)
  })

  it.concurrent.each(programs.map((program) => [`${program.file}:${program.line}`, program] as const))(
    "%s runs as shown",
    async (_, program) => {
      const port = await freePort()
      const run = start(program, port)
      if (!isReceiver(program)) {
        assert.strictEqual(await run.ended, 0, run.output())
        return
      }
      try {
        const { body, headers } = signedWebhook({ secret, type: "invoice.accepted" })
        const post = () => fetch(`http://127.0.0.1:${port}/`, { method: "POST", headers, body })
        const answer = await vi.waitFor(post, { timeout: 50_000, interval: 100 })
        assert.strictEqual(answer.status, 204, run.output())
        await vi.waitFor(() => assert.include(run.output(), "invoice.accepted"))
      } finally {
        run.kill()
        await run.ended
      }
    }
  )
})
