/**
 * Submits the invoices of a folder, waits for them and saves their receipts. It may be killed at any moment and run
 * again: what was submitted is not submitted twice.
 */
import { type Client, isApiError, isGovoiceError, type Invoice } from "@govoice/client"
import { access, mkdir, readdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { type InvoiceRecord, openRecord, replaceFile, saveRecord, sha256 } from "./folderState.ts"

/** How a file came out of a run. */
export type Outcome =
  /** `accepted`, with its receipt saved; `rejected` or `failed`: final. Nothing is done for it any more. */
  | {
      readonly file: string
      readonly outcome: "accepted" | "rejected" | "failed"
      readonly officialNumber: string | null
    }
  /** The service refused the document, or it is not UTF-8. It is tried again in the next run, corrected or not. */
  | { readonly file: string; readonly outcome: "refused"; readonly error: unknown }
  /** No answer, or not in time. The next run goes on with it. */
  | { readonly file: string; readonly outcome: "pending"; readonly error: unknown }
  /** The document is another one than was submitted under this name. It is not sent: give it another name. */
  | { readonly file: string; readonly outcome: "changed" }

/** What has just become known of a file. */
export interface Progress {
  readonly file: string
  /** A status of the invoice, or `done` when an earlier run has finished it. */
  readonly status: string
  readonly invoice?: Invoice
}

export interface SubmitFolderOptions {
  readonly client: Client
  /** Where the invoices are: every `*.xml` in it that is no receipt. */
  readonly folder: string
  /** Where receipts are saved, and what is known of each invoice. Made when it is not there. */
  readonly outFolder: string
  readonly onProgress?: (progress: Progress) => void
  readonly signal?: AbortSignal
  /**
   * How many invoices are under way at a time.
   *
   * @default 8
   */
  readonly concurrency?: number
  /**
   * How long one invoice is waited for, in milliseconds.
   *
   * @default 600_000
   */
  readonly deadlineMs?: number
}

// A byte that is no UTF-8 must not become another character on the way.
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** Submits a folder. It fails for what concerns the folder; what concerns an invoice is in its outcome. */
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
    // Another document was taken under this key, though no answer has arrived.
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
