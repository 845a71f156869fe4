/**
 * The state of each invoice, stored beside the receipts, so that a run can continue after a crash.
 *
 * A file is written under a temporary name, synced and renamed, so that it is complete or absent. It is on disk before
 * the request that depends on it.
 */
import { createHash, randomUUID } from "node:crypto"
import { link, open, readFile, rename, unlink } from "node:fs/promises"
import { dirname, join } from "node:path"

/** The state of an invoice. */
export interface InvoiceRecord {
  /** Generated before the first request and the same in every run, so that no invoice is submitted twice. */
  readonly idempotencyKey: string
  /** Set after the response, with the hash of the submitted document. */
  readonly invoiceId?: string
  readonly sha256?: string
  /** The final status. */
  readonly status?: string
  readonly officialNumber?: string | null
}

export const sha256 = (document: Uint8Array): string => createHash("sha256").update(document).digest("hex")

const writeThrough = async (path: string, content: string | Uint8Array): Promise<void> => {
  const file = await open(path, "w")
  try {
    await file.writeFile(content)
    await file.sync()
  } finally {
    await file.close()
  }
}

// A new name is durable after a sync of its folder. Windows neither supports nor requires this.
const syncFolderOf = async (path: string): Promise<void> => {
  if (process.platform === "win32") return
  const folder = await open(dirname(path))
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

const temporary = (path: string): string => `${path}.${randomUUID()}.tmp`

/** Replaces a file atomically. */
export const replaceFile = async (path: string, content: string | Uint8Array): Promise<void> => {
  const whole = temporary(path)
  await writeThrough(whole, content)
  await rename(whole, path)
  await syncFolderOf(path)
}

const recordPath = (outFolder: string, name: string): string => join(outFolder, `${name}.json`)

const toText = (record: InvoiceRecord): string => `${JSON.stringify(record, null, 2)}\n`

/** Stores the state of an invoice. */
export const saveRecord = (outFolder: string, name: string, record: InvoiceRecord): Promise<void> =>
  replaceFile(recordPath(outFolder, name), toText(record))

/** Returns the state of an invoice, or creates it with a new key. Concurrent runs get the same key. */
export const openRecord = async (outFolder: string, name: string): Promise<InvoiceRecord> => {
  const path = recordPath(outFolder, name)
  const known = await readFile(path, "utf8").catch(unlessMissing)
  if (known !== undefined) return JSON.parse(known) as InvoiceRecord

  const record: InvoiceRecord = { idempotencyKey: randomUUID() }
  const whole = temporary(path)
  await writeThrough(whole, toText(record))
  try {
    // Unlike a rename, a link does not replace the file of a concurrent run.
    await link(whole, path)
    return record
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error
    return JSON.parse(await readFile(path, "utf8")) as InvoiceRecord
  } finally {
    await unlink(whole)
    await syncFolderOf(path)
  }
}

const unlessMissing = (error: unknown): undefined => {
  if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error
}
