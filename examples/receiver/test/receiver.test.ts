import type { VerifiedWebhook } from "@govoice/webhooks"
import { startReceiver, type ReceiverOptions } from "@govoice/example-receiver"
import { signedWebhook, type SignedWebhook } from "@govoice/webhooks/testing"
import { spawn, type ChildProcess } from "node:child_process"
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { open } from "node:fs/promises"
import { pathToFileURL } from "node:url"
import { afterEach, assert, beforeEach, describe, it, vi } from "vitest"

const secret = "whsec_kfUZ5zdM0s0m5sLzu0Md5ZZ3g1vSyrIhrVOTm0VbTPw"

let dataDir = ""
const closers: Array<() => Promise<unknown>> = []
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "govoice-receiver-"))
})
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
  rmSync(dataDir, { recursive: true })
})

const start = async (options: Partial<ReceiverOptions> = {}) => {
  const received: Array<VerifiedWebhook> = []
  const receiver = await startReceiver({
    secret,
    dataDir,
    onWebhook: (webhook) => received.push(webhook),
    ...options
  })
  closers.push(receiver.close)
  return { ...receiver, received }
}

const send = async (url: string, { body, headers }: SignedWebhook<unknown>) =>
  (await fetch(url, { method: "POST", body, headers: { ...headers, connection: "close" } })).status

describe("startReceiver", () => {
  it("handles a repeated event once", async () => {
    const { url, received } = await start()
    const webhook = signedWebhook({ secret, type: "invoice.accepted" })
    assert.strictEqual(await send(url, webhook), 204)
    assert.strictEqual(await send(url, webhook), 204)
    assert.deepStrictEqual(
      received.map(({ id }) => id),
      [webhook.event.id]
    )
    assert.strictEqual(received[0]!.event.type, "invoice.accepted")
  })

  it("handles concurrent copies of an event once", async () => {
    let calls = 0
    const { url } = await start({
      onWebhook: async () => {
        calls += 1
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
    })
    const webhook = signedWebhook({ secret, type: "invoice.accepted" })
    assert.deepStrictEqual(await Promise.all([send(url, webhook), send(url, webhook)]), [204, 204])
    assert.strictEqual(calls, 1)
  })

  it("rejects webhooks that are signed with another secret", async () => {
    const { url, received } = await start()
    const other = signedWebhook({ secret: "whsec_other", type: "invoice.accepted" })
    assert.strictEqual(await send(url, other), 400)
    assert.deepStrictEqual(received, [])
  })

  it("handles an event again after a failure", async () => {
    let calls = 0
    const { url } = await start({
      onWebhook: () => {
        calls += 1
        if (calls === 1) throw new Error("Not now (expected by the test)")
      }
    })
    const webhook = signedWebhook({ secret, type: "invoice.accepted" })
    assert.deepStrictEqual(
      [await send(url, webhook), await send(url, webhook), await send(url, webhook)],
      [500, 204, 204]
    )
    assert.strictEqual(calls, 2)
  })

  it("starts without a secret, and follows a rotation", async () => {
    const secrets: Array<string> = []
    const { url, received } = await start({ secrets: () => secrets })
    const webhook = signedWebhook({ secret, type: "invoice.accepted" })
    assert.strictEqual(await send(url, webhook), 503)
    secrets.push(secret)
    assert.strictEqual(await send(url, webhook), 204)
    secrets.unshift("whsec_new")
    assert.strictEqual(await send(url, signedWebhook({ secret: "whsec_new", type: "invoice.rejected" })), 204)
    assert.strictEqual(await send(url, signedWebhook({ secret, type: "invoice.failed" })), 204)
    secrets.pop()
    assert.strictEqual(await send(url, signedWebhook({ secret, type: "invoice.failed" })), 400)
    assert.strictEqual(received.length, 3)
  })

  it("keeps handled events across a restart, also after an incomplete line", async () => {
    const first = await start()
    const webhook = signedWebhook({ secret, type: "invoice.accepted" })
    assert.strictEqual(await send(first.url, webhook), 204)
    await closers.pop()!()
    appendFileSync(join(dataDir, "events.jsonl"), '{"id":"evt_cut')
    const second = await start()
    assert.strictEqual(await send(second.url, webhook), 204)
    assert.deepStrictEqual(second.received, [])
    const next = signedWebhook({ secret, type: "invoice.upo_available" })
    assert.strictEqual(await send(second.url, next), 204)
    const lines = readFileSync(join(dataDir, "events.jsonl"), "utf8").trim().split("\n")
    assert.deepStrictEqual(
      lines.map((line) => (JSON.parse(line) as { readonly id: string }).id),
      [webhook.event.id, next.event.id]
    )
  })
})

describe("startReceiver under faults", () => {
  afterEach(() => void vi.restoreAllMocks())

  it("throws for an invalid secret", async () => {
    const error = await startReceiver({ secret: "nope", dataDir }).then(
      ({ close }) => close(),
      (error: unknown) => error
    )
    assert.propertyVal(error, "code", "bad_secret")
  })

  it("answers 500 while the secret is invalid", async () => {
    vi.spyOn(console, "error").mockReturnValue()
    let current = "nope"
    const { url, received } = await start({ secrets: () => [current] })
    const webhook = signedWebhook({ secret, type: "invoice.accepted" })
    assert.strictEqual(await send(url, webhook), 500)
    current = secret
    assert.strictEqual(await send(url, webhook), 204)
    assert.strictEqual(received.length, 1)
  })

  it("removes a partial line after a write error", async () => {
    vi.spyOn(console, "error").mockReturnValue()
    const handle = await open(join(dataDir, "other"), "a")
    const prototype = Object.getPrototypeOf(handle) as { appendFile: (this: typeof handle, line: string) => unknown }
    await handle.close()
    const { url } = await start()
    vi.spyOn(prototype, "appendFile").mockImplementationOnce(async function (this: typeof handle, line: string) {
      await this.write(line.slice(0, 40))
      throw new Error("ENOSPC, made up by the test")
    })
    const webhooks = ["invoice.accepted", "invoice.rejected"].map((type) => signedWebhook({ secret, type }))
    assert.strictEqual(await send(url, webhooks[0]!), 500)
    assert.strictEqual(await send(url, webhooks[1]!), 204)
    await closers.pop()!()
    const second = await start()
    assert.strictEqual(await send(second.url, webhooks[1]!), 204)
    assert.deepStrictEqual(second.received, [])
    assert.strictEqual(await send(second.url, webhooks[0]!), 204)
    assert.strictEqual(second.received.length, 1)
  })

  it("handles an event again after a crash before it was stored", async () => {
    const script = `
      import { startReceiver } from ${JSON.stringify(pathToFileURL(join(import.meta.dirname, "../src/index.ts")))}
      const onWebhook = () => process.kill(process.pid, "SIGKILL")
      console.log((await startReceiver({ secret: "${secret}", dataDir: ${JSON.stringify(dataDir)}, onWebhook })).url)`
    const child = spawn(process.execPath, ["--conditions=source", "--input-type=module", "-e", script], {
      stdio: ["ignore", "pipe", "inherit"]
    })
    closers.push(async () => child.kill("SIGKILL"))
    const url = await new Promise<string>((resolve) =>
      child.stdout.once("data", (line) => resolve(String(line).trim()))
    )
    const webhook = signedWebhook({ secret, type: "invoice.accepted" })
    const answered = await send(url, webhook).catch(() => "nothing")
    assert.strictEqual(answered, "nothing")
    const { url: next, received } = await start()
    assert.strictEqual(await send(next, webhook), 204)
    assert.strictEqual(received.length, 1)
  })
})

describe("The program of the receiver", () => {
  const run = async (env: Record<string, string>) => {
    const child: ChildProcess = spawn(
      process.execPath,
      ["--conditions=source", join(import.meta.dirname, "../src/main.ts")],
      { env: { ...process.env, DATA_DIR: dataDir, PORT: "0", ...env }, stdio: ["ignore", "pipe", "pipe"] }
    )
    let output = ""
    child.stdout!.on("data", (chunk: Buffer) => (output += chunk.toString()))
    child.stderr!.on("data", (chunk: Buffer) => (output += chunk.toString()))
    const ended = new Promise<number | null>((resolve) => child.on("close", resolve))
    closers.push(async () => {
      child.kill("SIGKILL")
      await ended
    })
    while (!/http\S+/.test(output) && child.exitCode === null) await new Promise((resolve) => setTimeout(resolve, 20))
    return { child, ended, url: /http\S+/.exec(output)?.[0] ?? "", output: () => output }
  }

  it("keeps handled events when it is killed", async () => {
    const webhooks = Array.from({ length: 20 }, () => signedWebhook({ secret, type: "invoice.accepted" }))
    const first = await run({ WEBHOOK_SECRET: secret })
    for (const webhook of webhooks) assert.strictEqual(await send(first.url, webhook), 204)
    first.child.kill("SIGKILL")
    await first.ended
    assert.match(first.output(), new RegExp(`${webhooks[0]!.event.id} invoice.accepted`))

    const second = await run({ WEBHOOK_SECRET: `whsec_new,${secret}` })
    for (const webhook of webhooks) assert.strictEqual(await send(second.url, webhook), 204)
    assert.notInclude(second.output(), "evt_")
    second.child.kill("SIGTERM")
    assert.strictEqual(await second.ended, 0)
  })

  it("names the missing setting", async () => {
    const { ended, output } = await run({ WEBHOOK_SECRET: "" })
    assert.strictEqual(await ended, 1)
    assert.match(output(), /WEBHOOK_SECRET is not set/)
  })
})
