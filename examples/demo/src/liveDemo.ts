/**
 * Live mode on this machine: two taxpayers, the KSeF simulator in place of KSeF, a token and a certificate, single invoices
 * and a batch. Everything that it starts is stopped again, also if a step fails.
 */
import {
  type Client,
  type ControlPlane,
  createClient,
  createControlPlane,
  type Invoice,
  isApiError
} from "@govoice/client"
import { startReceiver } from "@govoice/example-receiver"
import { type Simulator, startSimulator } from "@govoice/ksef-simulator"
import { createHash, randomBytes } from "node:crypto"
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import type { Screen } from "./Screen.ts"
import { startServer } from "./startServer.ts"
import { Webhooks } from "./Webhooks.ts"

const batchSize = 200
const submitters = 16
const slowOpenMs = 8000

const invoiceFile = fileURLToPath(new URL("../../invoices/fa3-vat23.xml", import.meta.url))
const outFolder = fileURLToPath(new URL("../out/live", import.meta.url))

const owner = { email: "owner@example.com", password: "correct horse battery" }

// A second taxpayer, with a checksum that is right.
const otherNip = "5260250274"

const today = (): string => new Intl.DateTimeFormat("sv-SE", { timeZone: "Europe/Warsaw" }).format(new Date())

const run = randomBytes(3).toString("hex")

/** The example invoice, as another seller issues it today under another number. */
const documentOf = (template: string, seller: string, number: number): string =>
  template
    .replace(/<NIP>5265877635<\/NIP>/, `<NIP>${seller}</NIP>`)
    .replace(/<P_1>[^<]+/, `<P_1>${today()}`)
    .replace(/<P_2>[^<]+/, `<P_2>FV/${run}/${number}`)

const eachOf = async <A, B>(items: ReadonlyArray<A>, run: (item: A) => Promise<B>): Promise<ReadonlyArray<B>> => {
  const results: Array<B> = []
  const entries = items.entries()
  const work = async () => {
    for (const [index, item] of entries) results[index] = await run(item)
  }
  await Promise.all(Array.from({ length: submitters }, work))
  return results
}

interface Taxpayer {
  readonly name: string
  readonly nip: string
  readonly client: Client
}

const taxpayerOf = async (
  controlPlane: ControlPlane,
  baseUrl: string,
  {
    credential,
    name,
    nip
  }: {
    readonly name: string
    readonly nip: string
    readonly credential: { readonly token: string } | { readonly certificate: string; readonly privateKey: string }
  },
  signal: AbortSignal
) => {
  const { id } = await controlPlane.organizations.create({ name })
  await controlPlane.organizations.setGatewayCredential(
    id,
    "token" in credential
      ? { ...credential, context: { type: "Nip", value: nip } }
      : { type: "certificate", ...credential, context: { type: "Nip", value: nip } }
  )
  const deadline = performance.now() + 20_000
  for (;;) {
    signal.throwIfAborted()
    const { refusal, state } = await controlPlane.organizations.getGatewayCredential(id)
    if (state === "accepted") break
    if (state === "refused" || performance.now() > deadline) {
      throw new Error(`The credential of ${name} is ${state ?? "absent"}: ${refusal?.message ?? "no login yet"}`)
    }
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  const key = await controlPlane.apiKeys.create(id, { mode: "live", name: "demo" })
  return {
    id,
    taxpayer: { name, nip, client: createClient({ baseUrl, apiKey: key.secret, maxRetries: 10 }) } satisfies Taxpayer
  }
}

const refusal = async (client: Client, invoiceXml: string, signal: AbortSignal): Promise<string> => {
  const error = await client.invoices.submit({ invoiceXml }, { signal }).then(
    () => undefined,
    (thrown: unknown) => thrown
  )
  if (!isApiError(error, "invalid_invoice_xml")) throw error ?? new Error("The wrong invoice was not refused.")
  return error.message
}

/** Waits for the receipt of an invoice, checks that it is about the document, and saves it. */
const saveReceipt = async ({ client }: Taxpayer, id: string, invoiceXml: string, signal: AbortSignal) => {
  const invoice = await client.invoices.waitUntilFinal(id, { signal })
  if (invoice.status !== "accepted" || invoice.officialNumber === null) {
    throw new Error(`${id} is ${invoice.status}: ${JSON.stringify(invoice.rejection ?? invoice.failure)}`)
  }
  await client.invoices.waitForUpo(id, { signal })
  const upo = await (await client.invoices.downloadUpo(id, { signal })).text()
  const hash = createHash("sha256").update(invoiceXml).digest("base64")
  if (!upo.includes(invoice.officialNumber) || !upo.includes(hash))
    throw new Error(`The receipt of ${id} is of another invoice.`)
  await writeFile(join(outFolder, `${invoice.officialNumber}.upo.xml`), upo)
  return invoice
}

const seconds = (since: number): string => `${((performance.now() - since) / 1000).toFixed(1).padStart(5)} s`

const printLedger = (screen: Screen, { ledger }: Simulator, documents: number): void => {
  const accepted = ledger.accepted()
  const distinct = new Set(accepted.map(({ sha256 }) => sha256)).size
  const counts = new Map<string, number>()
  for (const { operation } of ledger.calls()) counts.set(operation, (counts.get(operation) ?? 0) + 1)
  screen.table(
    ["call of KSeF", "times"],
    [...counts].sort(([, one], [, other]) => other - one).map(([operation, times]) => [operation, String(times)])
  )
  if (accepted.length !== documents || distinct !== documents) {
    throw new Error(`KSeF accepted ${accepted.length} documents, ${distinct} different ones, of ${documents}.`)
  }
  if (ledger.overLimit > 0) throw new Error(`${ledger.overLimit} calls were over a limit of KSeF.`)
  screen.line()
  screen.done("ledger", `${accepted.length} documents, each accepted exactly once`)
  screen.done("limits", `${ledger.totalCalls} calls, none over a limit`)
}

export const liveDemo = async (screen: Screen, signal: AbortSignal): Promise<void> => {
  const begun = performance.now()
  await using stack = new AsyncDisposableStack()

  screen.line(screen.style("bold", "Govoice, live mode against the KSeF simulator"))
  screen.status("  starting the simulator and a server on an embedded Postgres…")
  const simulator = await startSimulator()
  stack.defer(() => simulator.close())
  const server = await startServer({ GOVOICE_LIVE_MODE: "true", GOVOICE_KSEF_URL: simulator.url })
  stack.defer(() => server.stop())
  screen.status("")
  screen.done("simulator", `${simulator.pageUrl}  (limits of production)`)
  screen.done("server", `${server.url}  (API reference at /docs)`)

  const webhooks = new Webhooks()
  const dataDir = await mkdtemp(join(tmpdir(), "govoice-demo-"))
  stack.defer(() => rm(dataDir, { recursive: true, force: true }))
  await rm(outFolder, { recursive: true, force: true })
  await mkdir(outFolder, { recursive: true })
  const secrets: Array<string> = []
  const receiver = await startReceiver({
    secrets: () => secrets,
    dataDir,
    onWebhook: (webhook) => webhooks.add(webhook)
  })
  stack.defer(() => receiver.close())
  screen.done("receiver", `${receiver.url}  (verifies, deduplicates)`)

  const controlPlane = createControlPlane({ baseUrl: server.url })
  await controlPlane.accounts.create(owner)
  await controlPlane.login(owner)
  screen.status("  logging in to KSeF…")
  const credentials = [
    { name: "Token", nip: simulator.nip, credential: { token: simulator.token } },
    { name: "Certificate", nip: otherNip, credential: simulator.issueCertificate({ nip: otherNip }) }
  ]
  const taxpayers: Array<Taxpayer> = []
  for (const one of credentials) {
    const { id, taxpayer } = await taxpayerOf(controlPlane, server.url, one, signal)
    const endpoint = await controlPlane.webhookEndpoints.create(id, { url: receiver.url, eventTypes: ["*"] })
    secrets.push(endpoint.secret)
    taxpayers.push(taxpayer)
    screen.done(one.name.toLowerCase(), `NIP ${one.nip}, accepted by KSeF`)
  }
  const [single, many] = taxpayers as [Taxpayer, Taxpayer]
  const template = await readFile(invoiceFile, "utf8")

  screen.heading("Three invoices, one by one")
  const singleAt = performance.now()
  const documents = [1, 2, 3].map((number) => documentOf(template, single.nip, number))
  await eachOf(documents, async (invoiceXml) => {
    const { id } = await single.client.invoices.submit({ invoiceXml }, { signal })
    const { officialNumber } = await saveReceipt(single, id, invoiceXml, signal)
    screen.line(`  ${screen.style("dim", seconds(singleAt))}  ${officialNumber}  receipt checked and saved`)
  })

  screen.heading("A wrong invoice: a decimal comma in the tax")
  screen.text(
    await refusal(single.client, documentOf(template, single.nip, 4).replace("<P_14_1>23.00", "<P_14_1>23,00"), signal)
  )

  screen.heading("The first invoice again, as a new submission")
  const { id: duplicateId } = await single.client.invoices.submit({ invoiceXml: documents[0]! }, { signal })
  const duplicate: Invoice = await single.client.invoices.waitUntilFinal(duplicateId, { signal })
  if (duplicate.rejection?.code !== "duplicate_invoice") {
    throw new Error(`The duplicate is ${duplicate.status}: ${JSON.stringify(duplicate.rejection ?? duplicate.failure)}`)
  }
  screen.text(`${duplicate.status}, ${duplicate.rejection.code}: ${duplicate.rejection.message}`)

  screen.heading(`${batchSize} invoices at once`)
  const batchAt = performance.now()
  // KSeF answers the first of them slowly, so that the others wait together and go in one batch.
  await simulator.faults.apply({ on: "openOnlineSession", context: many.nip, times: 1, do: "delay", ms: slowOpenMs })
  const batch = Array.from({ length: batchSize }, (_, index) => documentOf(template, many.nip, 1000 + index))
  const ids = await eachOf(
    batch,
    async (invoiceXml) => (await many.client.invoices.submit({ invoiceXml }, { signal })).id
  )
  screen.line(`  ${screen.style("dim", seconds(batchAt))}  submitted`)
  let saved = 0
  await eachOf([...ids.entries()], async ([index, id]) => {
    await saveReceipt(many, id, batch[index]!, signal)
    screen.status(`  ${++saved} of ${batchSize} accepted, with receipt…`)
  })
  screen.status("")
  screen.line(`  ${screen.style("dim", seconds(batchAt))}  accepted, every receipt checked and saved`)
  await Promise.all(ids.map((id) => webhooks.until(id, "invoice.upo_available", signal)))

  screen.heading("Summary")
  printLedger(screen, simulator, documents.length + batchSize)
  screen.done("webhooks", `${webhooks.count} received and verified, ${webhooks.types.size} of 6 event types`)
  screen.done("receipts", `${documents.length + batchSize} in ${relative(process.cwd(), outFolder)}`)
  screen.done("time", `${((performance.now() - begun) / 1000).toFixed(0)} s`)
}
