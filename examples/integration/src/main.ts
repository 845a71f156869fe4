/**
 * Submits a folder of invoices from the command line.
 *
 *     GOVOICE_URL=… GOVOICE_API_KEY=sk_test_… node --conditions=source src/main.ts <folder> [<folder for receipts>]
 *
 * Exit codes: 0 if every invoice is accepted, 1 if one is not, 2 for a usage error.
 */
import { createClient } from "@govoice/client"
import { join } from "node:path"
import { submitFolder } from "./submitFolder.ts"

const { GOVOICE_API_KEY: apiKey, GOVOICE_URL: baseUrl } = process.env
const [folder, outFolder = join(folder ?? "", "receipts")] = process.argv.slice(2)
if (apiKey === undefined || baseUrl === undefined || folder === undefined) {
  console.error("Usage: GOVOICE_URL=… GOVOICE_API_KEY=sk_test_… node src/main.ts <folder> [<folder for receipts>]")
  process.exit(2)
}

const stopping = new AbortController()
process.once("SIGINT", () => stopping.abort())
process.once("SIGTERM", () => stopping.abort())

const outcomes = await submitFolder({
  client: createClient({ apiKey, baseUrl }),
  folder,
  outFolder,
  signal: stopping.signal,
  onProgress: ({ file, invoice, status }) => console.log(file, status, invoice?.officialNumber ?? "")
})

for (const outcome of outcomes) {
  const detail =
    "error" in outcome ? String(outcome.error) : "officialNumber" in outcome ? outcome.officialNumber : null
  console.log([outcome.file, outcome.outcome, detail].filter((part) => part !== null).join("  "))
}
process.exitCode = outcomes.every(({ outcome }) => outcome === "accepted") ? 0 : 1
