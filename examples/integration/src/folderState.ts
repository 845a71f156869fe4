/**
 * What is known of each invoice, kept beside the receipts, so that a run can go on where another one was killed.
 *
 * A file is written under another name and renamed, so that it is never half there. It is on the disk before anything
 * that it announces is sent.
 */
import { createHash, randomUUID } from "node:crypto"
import { link, open, readFile, rename, unlink } from "node:fs/promises"
import { dirname, join } from "node:path"

/** What is known of an invoice. */
export interface InvoiceRecord {
  /** Made before the first request, and the same in every run: this is what keeps an invoice from being sent twice. */
  readonly idempotencyKey: string
  /** Known once the service has answered, with the document that it has taken. */
  readonly invoiceId?: string
  readonly sha256?: string
  /** The final status, once it is known. */
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

// A name is on the disk when its folder is. On Windows a folder cannot be opened, and need not be.
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

/** Writes a file as a whole. */
export const replaceFile = async (path: string, content: string | Uint8Array): Promise<void> => {
  const whole = temporary(path)
  await writeThrough(whole, content)
  await rename(whole, path)
  await syncFolderOf(path)
}

const recordPath = (outFolder: string, name: string): string => join(outFolder, `${name}.json`)

const toText = (record: InvoiceRecord): string => `${JSON.stringify(record, null, 2)}\n`

/** Keeps what is known of an invoice. */
export const saveRecord = (outFolder: string, name: string, record: InvoiceRecord): Promise<void> =>
  replaceFile(recordPath(outFolder, name), toText(record))

/** Finds what is known of an invoice, or begins a record with a new key. Of two runs at once, both get the same one. */
export const openRecord = async (outFolder: string, name: string): Promise<InvoiceRecord> => {
  const path = recordPath(outFolder, name)
  const known = await readFile(path, "utf8").catch(unlessMissing)
  if (known !== undefined) return JSON.parse(known) as InvoiceRecord

  const record: InvoiceRecord = { idempotencyKey: randomUUID() }
  const whole = temporary(path)
  await writeThrough(whole, toText(record))
  try {
    // Unlike a rename, a link does not replace what another run has written.
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
