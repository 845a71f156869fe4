/** The samples of the API reference are executed as the page shows them, with the credentials and the ids of the reader. */
import { execFile, spawnSync } from "node:child_process"
import { promisify } from "node:util"
import type { Browser } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type Call, makeCall, readAgreement, signUp, submit, type Tenant, until } from "../e2e/support/client.ts"
import { type Server, startServer } from "../e2e/support/server.ts"
import { isMissing, launch, watch } from "./support/chromium.ts"
import { patienceMs } from "../support/patienceMs.ts"

/** Samples whose example is a placeholder that only the reader can fill in, or that end what others need. */
const isForTheReader =
  /--request DELETE|\/auth\/(?:refresh|logout)|\/account\/password|\/gateway-credential|\/offline-certificate|\/deliveries\/wd_/

/** The viewer tries whether it may compile code, which the policy of the page refuses. */
const detectsEval = /^policy violated: script-src eval /

const canPaste = ["bash", "curl"].every((command) => spawnSync(command, ["--version"]).error === undefined)
if (!canPaste) console.warn("SKIPPED: the samples of the reference need bash and curl, which this machine lacks")

describe.skipIf(isMissing || !canPaste)("the API reference in a browser", () => {
  let browser: Browser
  let server: Server
  let call: Call
  let tenant: Tenant
  beforeAll(async () => {
    server = await startServer({ GOVOICE_DATA_DIR: "memory", GOVOICE_SANDBOX_STEP_MS: "100" })
    call = makeCall(() => server.url, await readAgreement(server.url))
    tenant = await signUp(call)
    browser = await launch()
  })
  afterAll(async () => {
    await browser?.close()
    await server?.stop()
  })

  /** Opens every section of the page, and returns the sample of each operation once all are shown. */
  const readSamples = async (operations: number): Promise<ReadonlyArray<string>> => {
    const { context, end } = await watch(browser, server.url, { expected: detectsEval })
    const page = await context.newPage()
    await page.goto(`${server.url}/docs`)
    const read = async () => {
      await page.evaluate(`for (const one of document.querySelectorAll("button[aria-label^='Show all ']")) one.click()`)
      return (await page.locator("pre").allTextContents()).filter((text) => text.startsWith("curl "))
    }
    let samples = await read()
    for (const deadline = Date.now() + patienceMs; samples.length < operations && Date.now() < deadline;) {
      await page.waitForTimeout(100)
      samples = await read()
    }
    await end()
    return samples
  }

  it("has samples that succeed, those of submissions with an Idempotency-Key", async () => {
    const document = (await (await fetch(`${server.url}/openapi.json`)).json()) as { readonly paths: object }
    const operations = Object.values(document.paths).flatMap((path) => Object.keys(path as object))
    assert.isAbove(operations.length, 30)
    const samples = await readSamples(operations.length)
    assert.strictEqual(samples.length, operations.length)
    assert.isTrue(samples.some((text) => /'Idempotency-Key: \S+'/.test(text) && text.includes("<Faktura")))
    const { id } = (await submit(call, tenant.testKey)).json as { readonly id: string }
    await until(
      () => call("GET", `/v1/invoices/${id}`, { auth: tenant.testKey }),
      ({ json }) => (json as { readonly upo_available: boolean }).upo_available
    )
    const own = [
      [/\binv_\w{26}/g, id],
      [/\borg_\w{26}/g, tenant.organizationId],
      [/\bwe_\w{26}/g, tenant.endpointId],
      [/\bkey_\w{26}/g, tenant.testKeyId]
    ] as const
    const failed: Array<string> = []
    for (const sample of samples.filter((text) => !isForTheReader.test(text))) {
      const isDeveloper = /\/v1\/(?:me|invoices)/.test(sample)
      const credential = isDeveloper ? tenant.testKey : tenant.token
      const script = own.reduce(
        (text, [example, value]) => text.replaceAll(example, value),
        sample.trim().replace("YOUR_SECRET_TOKEN", credential)
      )
      const { stdout } = await promisify(execFile)("bash", ["-c", `${script} -sS -w '\n%{http_code}'`])
      if (!/\n2\d\d$/.test(stdout)) failed.push(`${script}\n${stdout}`)
    }
    assert.deepStrictEqual(failed, [])
  })
})
