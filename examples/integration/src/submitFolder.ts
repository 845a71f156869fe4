/**
 * Submits the invoices of a folder, waits for the decisions and saves the receipts. It can be killed at any time and run
 * again without submitting an invoice twice.
 */
import { type Client, isApiError, isGovoiceError, type Invoice } from "@govoice/client"
import { access, mkdir, readdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { type InvoiceRecord, openRecord, replaceFile, saveRecord, sha256 } from "./folderState.ts"

/** The outcome of a file in a run. */
export type Outcome =
  /** Final: `accepted` with its receipt saved, `rejected` or `failed`. Later runs skip it. */
  | {
      readonly file: string
      readonly outcome: "accepted" | "rejected" | "failed"
      readonly officialNumber: string | null
    }
  /** The service rejected the request, or the document is not UTF-8. The next run submits it again. */
  | { readonly file: string; readonly outcome: "refused"; readonly error: unknown }
  /** No response, or not final in time. The next run continues. */
  | { readonly file: string; readonly outcome: "pending"; readonly error: unknown }
  /** The document differs from the submitted one. It is not submitted: use another file name. */
  | { readonly file: string; readonly outcome: "changed" }

/** A change of the state of a file. */
export interface Progress {
  readonly file: string
  /** The status of the invoice, or `done` if an earlier run has finished it. */
  readonly status: string
  readonly invoice?: Invoice
}

export interface SubmitFolderOptions {
  readonly client: Client
  /** The folder of invoices: each `*.xml` that is not a receipt. */
  readonly folder: string
  /** The folder for receipts and states. Created if it does not exist. */
  readonly outFolder: string
  readonly onProgress?: (progress: Progress) => void
  readonly signal?: AbortSignal
  /**
   * The maximum number of concurrent invoices.
   *
   * @default 8
   */
  readonly concurrency?: number
  /**
   * The maximum time to wait for one invoice, in milliseconds.
   *
   * @default 600_000
   */
  readonly deadlineMs?: number
}

// Rejects invalid UTF-8: replacing it would change the document.
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** Submits a folder. Rejects for errors of the folder. Errors of an invoice are in its outcome. */
export const submitFolder = async (options: SubmitFolderOptions): Promise<ReadonlyArray<Outcome>> => {
  const { concurrency = 8, folder, outFolder } = options
  await mkdir(outFolder, { recursive: true })
  const files = (await readdir(folder)).filter((name) => name.endsWith(".xml") && !name.endsWith(".upo.xml")).sort()
  const outcomes: Array<Outcome> = []

  const queue = files.entries()
  const worker = async (): Promise<void> => {
    for (const [index, file] of queue) outcomes[index] = await submitFile(options, file)
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
  return outcomes
}

const submitFile = async (options: SubmitFolderOptions, file: string): Promise<Outcome> => {
  const { folder, outFolder } = options
  const document = await readFile(join(folder, file))
  const record = await openRecord(outFolder, file)
  if (record.invoiceId !== undefined && record.sha256 !== sha256(document)) return { file, outcome: "changed" }
  try {
    return await finish(options, file, document, record)
  } catch (error) {
    // The service stored another document with this key, and its response did not arrive.
    if (isApiError(error, "idempotency_conflict")) return { file, outcome: "changed" }
    if (error instanceof TypeError) return { file, outcome: "refused", error }
    if (!isGovoiceError(error)) throw error
    return { file, outcome: error._tag === "ApiError" && !error.retryable ? "refused" : "pending", error }
  }
}

const finish = async (
  { client, deadlineMs, onProgress, outFolder, signal }: SubmitFolderOptions,
  file: string,
  document: Uint8Array,
  record: InvoiceRecord
): Promise<Outcome> => {
  const receipt = join(outFolder, `${file}.upo.xml`)
  const isSaved = await access(receipt).then(
    () => true,
    () => false
  )
  if (record.status !== undefined && (record.status !== "accepted" || isSaved)) {
    onProgress?.({ file, status: "done" })
    return outcomeOf(file, record)
  }

  const bounds = {
    signal,
    deadlineMs,
    onProgress: (invoice: Invoice) => onProgress?.({ file, status: invoice.status, invoice })
  }
  const taken = { ...record, sha256: sha256(document) }
  let { invoiceId } = record
  if (invoiceId === undefined) {
    const { idempotencyKey } = record
    const submission = { invoiceXml: utf8.decode(document), metadata: { file } }
    invoiceId = (await client.invoices.submit(submission, { idempotencyKey, signal })).id
    await saveRecord(outFolder, file, { ...taken, invoiceId })
  }

  const { officialNumber, status } = await client.invoices.waitUntilFinal(invoiceId, bounds)
  if (status === "accepted") {
    await client.invoices.waitForUpo(invoiceId, bounds)
    await replaceFile(receipt, await (await client.invoices.downloadUpo(invoiceId, { signal })).bytes())
  }
  const final = { ...taken, invoiceId, status, officialNumber }
  await saveRecord(outFolder, file, final)
  return outcomeOf(file, final)
}

const outcomeOf = (file: string, { officialNumber = null, status }: InvoiceRecord): Outcome => ({
  file,
  outcome: status === "accepted" || status === "rejected" ? status : "failed",
  officialNumber
})
