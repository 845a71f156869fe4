/**
 * The bytes that a simulator holds: documents that were sent, and parts of batches. They are kept on disk, so that their
 * number does not grow the process.
 */
import { closeSync, fstatSync, mkdirSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** Where the bytes of a document are. */
export type Place = readonly [offset: number, length: number]

/** A folder with one file for all documents, and files of their own for parts of batches. */
export class Files {
  readonly #folder: string
  readonly #temporary: boolean
  readonly #documents: number
  #end: number

  /** Without a folder, uses a temporary one that `close` removes. */
  constructor(folder?: string) {
    this.#temporary = folder === undefined
    this.#folder = folder ?? mkdtempSync(join(tmpdir(), "ksef-simulator-"))
    mkdirSync(join(this.#folder, "parts"), { recursive: true, mode: 0o700 })
    this.#documents = openSync(join(this.#folder, "documents"), "a+", 0o600)
    this.#end = fstatSync(this.#documents).size
  }

  /** Appends a document. */
  add(bytes: Uint8Array): Place {
    const offset = this.#end
    for (let written = 0; written < bytes.length;) {
      written += writeSync(this.#documents, bytes, written, bytes.length - written)
    }
    this.#end += bytes.length
    return [offset, bytes.length]
  }

  /** Reads a document. */
  read([offset, length]: Place): Buffer {
    const bytes = Buffer.allocUnsafe(length)
    for (let done = 0; done < length;) {
      const read = readSync(this.#documents, bytes, done, length - done, offset + done)
      if (read === 0) throw new Error("A document is missing in the files of the simulator. Delete its state file.")
      done += read
    }
    return bytes
  }

  /** Returns the path of a part of a batch. Both names come from the simulator, never from a client. */
  part(session: string, part: string | number): string {
    return join(this.#folder, "parts", `${session}-${part}`)
  }

  close(): void {
    closeSync(this.#documents)
    if (this.#temporary) rmSync(this.#folder, { recursive: true, force: true })
  }
}
