/**
 * What was handled, in a file that outlives the process: a line for each event, on the disk before the event counts as
 * handled. It knows nothing of HTTP.
 */
import type { VerifiedWebhook } from "@govoice/webhooks"
import { mkdir, open, readFile, type FileHandle } from "node:fs/promises"
import { join } from "node:path"

export class Journal implements AsyncDisposable {
  private constructor(
    file: FileHandle,
    length: number,
    /** The ids of all events that were handled. */
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

  /** Opens `events.jsonl` in a folder, which is made if need be. */
  static async open(folder: string): Promise<Journal> {
    await mkdir(folder, { recursive: true })
    const path = join(folder, "events.jsonl")
    const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return ""
      throw error
    })
    const file = await open(path, "a")
    // A process that was killed while it wrote leaves a line without its end. That event was not answered: it comes again.
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

  /** Ends once the event is on the disk. */
  async add({ id, timestamp, event }: VerifiedWebhook): Promise<void> {
    const added = this.last.then(() => this.append(`${JSON.stringify({ id, timestamp, event })}\n`))
    this.last = added.catch(() => {})
    await added
    this.handled.add(id)
  }

  /** One line at a time. */
  private async append(line: string): Promise<void> {
    try {
      await this.file.appendFile(line)
      await this.file.datasync()
    } catch (error) {
      // On a full disk half a line may be there, to which the next one would be joined.
      await this.file.truncate(this.length)
      throw error
    }
    this.length += Buffer.byteLength(line)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.file.close()
  }
}
