/** The example against the real server: from beginning to end, killed at many moments, and where documents are bad. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createClient, createControlPlane, type Invoice } from "@govoice/client"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type Service, startService } from "../../../packages/client/test/support/service.ts"
import { submitFolder, type Outcome } from "../src/submitFolder.ts"

const sample = readFileSync(join(import.meta.dirname, "../../invoices/fa3-vat23.xml"), "utf8")
const owner = { email: "owner@example.com", password: "correct horse battery staple" }

let service: Service
let apiKey: string
let listInvoices: () => Promise<ReadonlyArray<Invoice>>
const scratch = mkdtempSync(join(tmpdir(), "govoice-integration-"))

beforeAll(async () => {
  service = await startService()
  const controlPlane = createControlPlane({ baseUrl: service.baseUrl })
  await controlPlane.accounts.create(owner)
  await controlPlane.login(owner)
  const { id } = await controlPlane.organizations.create({ name: "Sprzedawca Testowy" })
  apiKey = (await controlPlane.apiKeys.create(id, { mode: "test" })).secret
  listInvoices = async () => {
    const invoices: Array<Invoice> = []
    for await (const invoice of controlPlane.invoices.list(id, { limit: 100 })) invoices.push(invoice)
    return invoices
  }
})
afterAll(async () => {
  await service?.[Symbol.asyncDispose]()
  rmSync(scratch, { recursive: true })
})

const folderOf = (documents: Readonly<Record<string, string | Uint8Array>>) => {
  const folder = mkdtempSync(join(scratch, "in-"))
  for (const [name, document] of Object.entries(documents)) writeFileSync(join(folder, name), document)
  return { folder, outFolder: join(folder, "receipts") }
}

const numbered = (count: number, prefix: string) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, index) => [
      `${prefix}-${index}.xml`,
      sample.replace("FV/2026/11/0001", `FV/2026/11/${prefix}${index}`)
    ])
  )

const submittedAs = async (prefix: string): Promise<ReadonlyArray<string>> =>
  (await listInvoices())
    .map(({ metadata }) => metadata["file"] ?? "")
    .filter((file) => file.startsWith(prefix))
    .sort()

const client = () => createClient({ apiKey, baseUrl: service.baseUrl })
const kinds = (outcomes: ReadonlyArray<Outcome>) => outcomes.map(({ outcome }) => outcome)

describe("submitFolder", () => {
  it("submits every invoice, reports progress and saves the receipts", async () => {
    const places = folderOf({ ...numbered(3, "a"), "notes.txt": "no invoice" })
    const seen: Array<string> = []
    const options = {
      ...places,
      client: client(),
      onProgress: (at: { file: string; status: string }) => seen.push(at.status)
    }
    const outcomes = await submitFolder(options)
    assert.deepStrictEqual(kinds(outcomes), ["accepted", "accepted", "accepted"])
    assert.includeMembers(seen, ["accepted"])
    for (const outcome of outcomes) {
      const receipt = readFileSync(join(places.outFolder, `${outcome.file}.upo.xml`), "utf8")
      assert.include(receipt, "officialNumber" in outcome ? outcome.officialNumber! : "?")
    }

    seen.length = 0
    assert.deepStrictEqual(await submitFolder(options), outcomes)
    assert.deepStrictEqual(seen, ["done", "done", "done"])
    assert.strictEqual((await submittedAs("a-")).length, 3)
  })

  it("reports invalid documents, and submits them again after a correction", async () => {
    const places = folderOf({
      "b-1.xml": "<Faktura>",
      "b-2.xml": Uint8Array.of(0x3c, 0xe9, 0x2f, 0x3e),
      "b-3.xml": sample
    })
    const outcomes = await submitFolder({ ...places, client: client() })
    assert.deepStrictEqual(kinds(outcomes), ["refused", "refused", "accepted"])

    writeFileSync(join(places.folder, "b-1.xml"), sample.replace("FV/2026/11/0001", "FV/2026/11/b1"))
    writeFileSync(join(places.folder, "b-3.xml"), sample.replace("123.00", "124.00"))
    assert.deepStrictEqual(kinds(await submitFolder({ ...places, client: client() })), [
      "accepted",
      "refused",
      "changed"
    ])
    assert.deepStrictEqual(await submittedAs("b-"), ["b-1.xml", "b-3.xml"])
  })

  it("does not submit another document with an idempotency key that may be in use", async () => {
    const places = folderOf({ "g-1.xml": sample })
    // The service takes it, and the answer is lost with the process.
    const lossy = createClient({
      apiKey,
      baseUrl: service.baseUrl,
      maxRetries: 0,
      fetch: async (url, init) => {
        await fetch(url, init)
        throw new Error("killed")
      }
    })
    assert.deepStrictEqual(kinds(await submitFolder({ ...places, client: lossy })), ["pending"])

    writeFileSync(join(places.folder, "g-1.xml"), sample.replace("123.00", "124.00"))
    assert.deepStrictEqual(kinds(await submitFolder({ ...places, client: client() })), ["changed"])
    writeFileSync(join(places.folder, "g-1.xml"), sample)
    assert.deepStrictEqual(kinds(await submitFolder({ ...places, client: client() })), ["accepted"])
    assert.strictEqual((await submittedAs("g-")).length, 1)
  })

  it("continues after an outage or a timeout of the API", async () => {
    const places = folderOf(numbered(2, "c"))
    const nowhere = createClient({ apiKey, baseUrl: "http://127.0.0.1:1", maxRetries: 0 })
    assert.deepStrictEqual(kinds(await submitFolder({ ...places, client: nowhere })), ["pending", "pending"])
    assert.deepStrictEqual(kinds(await submitFolder({ ...places, client: client(), deadlineMs: 1 })), [
      "pending",
      "pending"
    ])
    assert.deepStrictEqual(kinds(await submitFolder({ ...places, client: client(), signal: AbortSignal.abort() })), [
      "pending",
      "pending"
    ])
    assert.deepStrictEqual(kinds(await submitFolder({ ...places, client: client() })), ["accepted", "accepted"])
    assert.strictEqual((await submittedAs("c-")).length, 2)
  })

  it("creates one invoice for each document in concurrent runs", async () => {
    const places = folderOf(numbered(6, "d"))
    const both = await Promise.all([1, 2].map(() => submitFolder({ ...places, client: client() })))
    assert.isTrue(both.every((outcomes) => outcomes.every(({ outcome }) => outcome === "accepted")))
    assert.strictEqual((await submittedAs("d-")).length, 6)
  })
})

describe("The program submitFolder", () => {
  const main = join(import.meta.dirname, "../src/main.ts")
  const start = (places: { readonly folder: string; readonly outFolder: string }) =>
    spawn(process.execPath, ["--conditions=source", main, places.folder, places.outFolder], {
      env: { PATH: process.env["PATH"], GOVOICE_URL: service.baseUrl, GOVOICE_API_KEY: apiKey },
      stdio: ["ignore", "pipe", "pipe"]
    })

  it("submits nothing twice when it is killed repeatedly", async () => {
    const count = 24
    const places = folderOf(numbered(count, "e"))
    // From before the first request until the receipts arrive.
    for (const lines of [0, 1, 4, 12, 30]) {
      const child = start(places)
      let said = 0
      child.stdout.on("data", (chunk: Buffer) => {
        said += chunk.toString().split("\n").length - 1
        if (said > lines) child.kill("SIGKILL")
      })
      if (lines === 0) setTimeout(() => child.kill("SIGKILL"), 150)
      await once(child, "exit")
    }
    const child = start(places)
    let output = ""
    child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()))
    child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()))
    const [code] = (await once(child, "exit")) as [number]
    assert.strictEqual(code, 0, output)

    const submitted = await submittedAs("e-")
    assert.strictEqual(submitted.length, count)
    assert.strictEqual(new Set(submitted).size, count)
    const receipts = readdirSync(places.outFolder).filter((name) => name.endsWith(".upo.xml"))
    assert.strictEqual(receipts.length, count)
    for (const receipt of receipts) {
      assert.match(readFileSync(join(places.outFolder, receipt), "utf8"), /<\/Potwierdzenie>\s*$/)
    }
  })

  it("stops on SIGTERM with pending invoices", async () => {
    const child = start(folderOf(numbered(4, "f")))
    child.stdout.once("data", () => child.kill("SIGTERM"))
    const [code] = (await once(child, "exit")) as [number]
    assert.strictEqual(code, 1)
  })

  it("prints its usage", async () => {
    const child = spawn(process.execPath, ["--conditions=source", main], {
      env: {},
      stdio: ["ignore", "ignore", "pipe"]
    })
    const [code] = (await once(child, "exit")) as [number]
    assert.strictEqual(code, 2)
  })
})
