/** Checks files with invoice documents, in a thread with a time limit, so that no document ends a run of many. */
import { InvoiceXml } from "@govoice/core"
import type { DocumentChecker, Violation } from "@govoice/ksef/checks"
import { Effect, type Scope } from "effect"
import { createReadStream } from "node:fs"
import * as ThreadPool from "../../jobs/ThreadPool.ts"
import * as InvoiceDocument from "../xml/InvoiceDocument.ts"
import * as DocumentChecks from "./DocumentChecks.ts"
import type { DocumentCheckJob } from "./documentCheckThread.ts"

/** The result for one file. */
export interface CheckedFile extends Violation.Report {
  readonly file: string
  /** Why the file was not checked: it cannot be read, or is no text in UTF-8. */
  readonly error?: string
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

const pdfMark = Buffer.from("%PDF-")

/** The name that stands for standard input. */
export const stdin = "-"

// Reads no further than a byte over the limit, so that the rest of a large file costs nothing.
const readStart = async (stream: AsyncIterable<Buffer>): Promise<Buffer> => {
  const chunks: Array<Buffer> = []
  let length = 0
  for await (const chunk of stream) {
    chunks.push(chunk)
    length += chunk.length
    if (length > InvoiceXml.maxBytesWithAttachment) break
  }
  return Buffer.concat(chunks)
}

const readXml = async (file: string): Promise<string> => {
  const bytes = await readStart(file === stdin ? process.stdin : createReadStream(file))
  // The limit is checked with the text, and the cut may divide a character.
  if (bytes.length > InvoiceXml.maxBytesWithAttachment) return bytes.toString()
  if (bytes.subarray(0, 5).equals(pdfMark)) throw new Error("This is a PDF. Name the XML document of the invoice.")
  try {
    return decoder.decode(bytes)
  } catch {
    throw new Error("The file is not UTF-8. Save it in this encoding.")
  }
}

// The sentences of the API begin with the name of its parameter.
const withoutSubject = (message: string): string => message.replace(/^invoice_xml /, "").replace(/\.$/, "")

const atStart = (message: string): Violation.Report => ({
  form: undefined,
  violations: [{ line: 1, column: 1, path: undefined, message: withoutSubject(message) }],
  count: 1,
  warnings: []
})

// Faults that are found before the document is checked.
const outerReport = (xml: string): Violation.Report | undefined => {
  const outerFault = InvoiceXml.fault(xml)
  if (outerFault !== undefined) return atStart(outerFault)
  const { fault } = InvoiceDocument.read(xml)
  if (fault === undefined) return undefined
  const [, message = "", line, column] = /^(.*) \(line (\d+), column (\d+)\)\.$/s.exec(fault) ?? []
  if (line === undefined) return atStart(fault)
  const violation = { line: Number(line), column: Number(column), path: undefined, message: withoutSubject(message) }
  return { form: undefined, violations: [violation], count: 1, warnings: [] }
}

const notChecked =
  "The document could not be checked: the check failed, or took over 5 s. The server passes such a document on."

const reason = (cause: unknown): string => {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : ""
  if (code === "ENOENT") return "The file does not exist. Correct its name."
  if (code === "EISDIR") return "This is a directory. Name the files in it."
  if (code === "EACCES") return "This user may not read the file. Change its permissions."
  return cause instanceof Error ? cause.message : String(cause)
}

/** Checks files: by their paths, or standard input. */
export interface FileChecks {
  readonly check: (file: string, options: DocumentChecker.CheckOptions) => Effect.Effect<CheckedFile>
}

/** Starts the thread with the first file. */
export const make = (
  options: DocumentChecks.Options = { entry: DocumentChecks.threadEntry, timeoutMs: DocumentChecks.timeoutMs }
): Effect.Effect<FileChecks, never, Scope.Scope> =>
  Effect.gen(function* () {
    const pool = yield* ThreadPool.make<DocumentCheckJob, Violation.Report>({
      name: "documentChecks",
      threads: 1,
      maxSize: 1,
      maxSizePerGroup: 1,
      ...options
    })
    const failed = (file: string, error: string): CheckedFile => ({
      file,
      form: undefined,
      violations: [],
      count: 0,
      warnings: [],
      error
    })
    return {
      check: (file, checkOptions) =>
        Effect.gen(function* () {
          const xml = yield* Effect.tryPromise(() => readXml(file))
          const outer = yield* Effect.try(() => outerReport(xml))
          return { file, ...(outer ?? (yield* pool.run("files", { xml, options: checkOptions }, []))) }
        }).pipe(
          Effect.catchTags({
            UnknownError: ({ cause }) => Effect.succeed(failed(file, reason(cause))),
            ThreadLost: () => Effect.succeed(failed(file, notChecked)),
            ThreadPoolFull: () => Effect.succeed(failed(file, notChecked))
          })
        )
    }
  })
