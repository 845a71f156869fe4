/**
 * The handled events, in a file with one line for each event. The line is on disk before the event counts as
 * handled.
 */
import type { VerifiedWebhook } from "@govoice/webhooks"
import { mkdir, open, readFile, type FileHandle } from "node:fs/promises"
import { join } from "node:path"

export class Journal implements AsyncDisposable {
  private constructor(
    file: FileHandle,
    length: number,
    /** The ids of all handled events. */
    handled: Set<string>
  ) {
    this.file = file
    this.length = length
    this.handled = handled
  }

  private readonly file: FileHandle
  private length: number
  private last: Promise<void> = Promise.resolve()
  private readonly handled: Set<string>

  /** Opens `events.jsonl` in a folder, which is created if it does not exist. */
  static async open(folder: string): Promise<Journal> {
    await mkdir(folder, { recursive: true })
    const path = join(folder, "events.jsonl")
    const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return ""
      throw error
    })
    const file = await open(path, "a")
    // A killed process leaves an incomplete line. Its event was not acknowledged, so the service retries it.
    const whole = text.slice(0, text.lastIndexOf("\n") + 1)
    const length = Buffer.byteLength(whole)
    if (whole.length < text.length) await file.truncate(length)
    const ids = whole
      .split("\n")
      .flatMap((line) => (line === "" ? [] : (JSON.parse(line) as { readonly id: string }).id))
    return new Journal(file, length, new Set(ids))
  }

  has(id: string): boolean {
    return this.handled.has(id)
  }

  /** Resolves after the event is on disk. */
  async add({ id, timestamp, event }: VerifiedWebhook): Promise<void> {
    const added = this.last.then(() => this.append(`${JSON.stringify({ id, timestamp, event })}\n`))
    this.last = added.catch(() => {})
    await added
    this.handled.add(id)
  }

  /** Appends one line. Calls must not overlap. */
  private async append(line: string): Promise<void> {
    try {
      await this.file.appendFile(line)
      await this.file.datasync()
    } catch (error) {
      // On a full disk, a part of the line may be written. The next line must not follow it.
      await this.file.truncate(this.length)
      throw error
    }
    this.length += Buffer.byteLength(line)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.file.close()
  }
}
