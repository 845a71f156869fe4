/**
 * The steps of the demo. Everything that it starts is stopped again, also if a step fails.
 */
import {
  type Client,
  createClient,
  createControlPlane,
  type Invoice,
  isApiError,
  type WebhookDelivery
} from "@govoice/client"
import { submitFolder } from "@govoice/example-integration"
import { startReceiver } from "@govoice/example-receiver"
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join, relative } from "node:path"
import { setTimeout } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import type { Screen } from "./Screen.ts"
import { startServer } from "./startServer.ts"
import { Webhooks } from "./Webhooks.ts"

const stepMs = 500
const scenarios = ["rejected", "temporary_failure", "delayed"] as const

const invoiceFolder = fileURLToPath(new URL("../../invoices", import.meta.url))
const outFolder = fileURLToPath(new URL("../out", import.meta.url))

const owner = { email: "owner@example.com", password: "correct horse battery" }

const seconds = (since: number): string => `${((performance.now() - since) / 1000).toFixed(1).padStart(5)} s`

const withoutObject = (eventType: string): string => eventType.replace("invoice.", "")

// A document that is checked at submission is refused before it is stored.
const refusal = async (client: Client, invoiceXml: string, signal: AbortSignal): Promise<string> => {
  const error = await client.invoices.submit({ invoiceXml, checks: "schema" }, { signal }).then(
    () => undefined,
    (thrown: unknown) => thrown
  )
  if (!isApiError(error, "invalid_invoice_xml")) throw error ?? new Error("The wrong invoice was not refused.")
  return error.message
}

// A receiver has a webhook a moment before the server records its delivery.
const recordedDeliveries = async (
  list: () => AsyncIterable<WebhookDelivery>,
  signal: AbortSignal
): Promise<ReadonlyArray<WebhookDelivery>> => {
  const until = performance.now() + 10_000
  for (;;) {
    const deliveries: Array<WebhookDelivery> = []
    for await (const delivery of list()) deliveries.push(delivery)
    if (deliveries.every(({ status }) => status === "succeeded") || performance.now() > until) return deliveries
    await setTimeout(100, undefined, { signal })
  }
}

/** The results of the demo, for programs. */
export interface DemoResult {
  readonly invoices: ReadonlyArray<{
    readonly scenario: string
    readonly id: string
    readonly status: string
    readonly officialNumber: string | null
    readonly code: string | null
    readonly webhooks: ReadonlyArray<string>
  }>
  readonly deliveries: ReadonlyArray<WebhookDelivery>
  readonly seconds: number
}

/** Runs the demo, tells it on the screen, and returns what it did. */
export const demo = async (screen: Screen, signal: AbortSignal): Promise<DemoResult> => {
  const begun = performance.now()
  await using stack = new AsyncDisposableStack()

  screen.line(screen.style("bold", "Govoice, end to end"))
  screen.status("  starting a server on an embedded Postgres…")
  const server = await startServer({ GOVOICE_SANDBOX_STEP_MS: String(stepMs) })
  stack.defer(() => server.stop())
  screen.status("")
  screen.done("server", `${server.url}  (API reference at /docs)`)

  const webhooks = new Webhooks()
  const dataDir = await mkdtemp(join(tmpdir(), "govoice-demo-"))
  stack.defer(() => rm(dataDir, { recursive: true, force: true }))
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
  const organization = await controlPlane.organizations.create({ name: "Example" })
  const key = await controlPlane.apiKeys.create(organization.id, { mode: "test", name: "demo" })
  const endpoint = await controlPlane.webhookEndpoints.create(organization.id, {
    url: receiver.url,
    eventTypes: ["*"]
  })
  secrets.push(endpoint.secret)
  screen.done("organization", organization.id)
  screen.done("test key", `sk_test_…${key.last4}`)
  screen.done("endpoint", `${endpoint.id}  (all event types)`)

  const client = createClient({ baseUrl: server.url, apiKey: key.secret })

  screen.heading("Submit a folder with one invoice, FA(3)")
  const submittedAt = performance.now()
  const say = (what: string) => screen.line(`  ${screen.style("dim", seconds(submittedAt))}  ${what}`)
  const stopListening = webhooks.listen(({ event }) =>
    say(`${screen.style("green", "webhook verified")}  ${screen.style("cyan", event.type)}`)
  )
  let final: Invoice | undefined
  await rm(outFolder, { recursive: true, force: true })
  const outcomes = await submitFolder({
    client,
    folder: invoiceFolder,
    outFolder,
    signal,
    onProgress: ({ file, invoice, status }) => {
      if (invoice !== undefined && invoice.status !== final?.status) {
        say(`${file.padEnd(16)}  ${screen.style("yellow", status)}`)
      }
      final = invoice
      screen.status(`  ${file} is ${status}…`)
    }
  })
  screen.status("")
  const [outcome] = outcomes
  if (final === undefined || outcome?.outcome !== "accepted") {
    throw new Error(`The invoice was not accepted: ${JSON.stringify(outcomes)}`)
  }
  await webhooks.until(final.id, "invoice.upo_available", signal)
  stopListening()
  say(`official number   ${final.officialNumber}`)
  for (const receipt of await readdir(outFolder)) {
    if (receipt.endsWith(".xml")) say(`receipt saved     ${relative(process.cwd(), join(outFolder, receipt))}`)
  }

  const invoiceXml = await readFile(join(invoiceFolder, "fa3-vat23.xml"), "utf8")

  screen.heading("Submit a wrong invoice: a decimal comma in the tax")
  screen.text(await refusal(client, invoiceXml.replace("<P_14_1>23.00", "<P_14_1>23,00"), signal))

  screen.heading("The three other sandbox scenarios")
  const stories = await Promise.all(
    scenarios.map(async (sandboxScenario) => {
      const { id } = await client.invoices.submit({ invoiceXml, sandboxScenario }, { signal })
      const end = await client.invoices.waitUntilFinal(id, {
        signal,
        onProgress: (now) => screen.status(`  ${sandboxScenario}: ${now.status}…`)
      })
      if (end.status === "accepted") {
        await client.invoices.waitForUpo(id, { signal })
        await webhooks.until(id, "invoice.upo_available", signal)
      } else await webhooks.until(id, end.status === "rejected" ? "invoice.rejected" : "invoice.failed", signal)
      return { scenario: sandboxScenario, invoice: end }
    })
  )
  screen.status("")
  const shown = [{ scenario: "accepted", invoice: final }, ...stories]
  screen.table(
    ["scenario", "status", "detail"],
    shown.map(({ invoice: end, scenario }) => [
      scenario,
      end.status,
      end.rejection?.code ?? end.failure?.code ?? end.officialNumber ?? ""
    ])
  )
  screen.line()
  screen.table(
    ["scenario", "webhooks in order of arrival"],
    shown.map(({ invoice: end, scenario }) => [scenario, webhooks.of(end.id).map(withoutObject).join(" → ")])
  )

  screen.heading("Deliveries, newest first")
  const deliveries = await recordedDeliveries(() => controlPlane.deliveries.list(endpoint.id), signal)
  screen.table(
    ["delivery", "event", "status", "attempts", "HTTP"],
    deliveries.map((delivery) => [
      delivery.id,
      withoutObject(delivery.eventType),
      delivery.status,
      String(delivery.attemptCount),
      String(delivery.lastHttpStatus ?? "")
    ])
  )

  const succeeded = deliveries.filter((delivery) => delivery.status === "succeeded").length
  if (succeeded !== webhooks.count || deliveries.length !== webhooks.count) {
    throw new Error(
      `${webhooks.count} webhooks were verified, but ${succeeded} of ${deliveries.length} deliveries succeeded.`
    )
  }

  screen.heading("Summary")
  screen.done("invoices", `${shown.length} submitted, each in a final status`)
  screen.done("webhooks", `${webhooks.count} received and verified, ${webhooks.types.size} of 6 event types`)
  screen.done("deliveries", `${succeeded} of ${deliveries.length} succeeded`)
  const took = Math.round((performance.now() - begun) / 1000)
  screen.done("time", `${took} s`)
  return {
    invoices: shown.map(({ invoice, scenario }) => ({
      scenario,
      id: invoice.id,
      status: invoice.status,
      officialNumber: invoice.officialNumber,
      code: invoice.rejection?.code ?? invoice.failure?.code ?? null,
      webhooks: webhooks.of(invoice.id)
    })),
    deliveries,
    seconds: took
  }
}
