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
    /** The ids of all events that were handled. */
    handled: Set<string>
  ) {
    this.file = file
    this.handled = handled
  }

  private readonly file: FileHandle
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
    if (whole.length < text.length) await file.truncate(Buffer.byteLength(whole))
    const ids = whole
      .split("\n")
      .flatMap((line) => (line === "" ? [] : (JSON.parse(line) as { readonly id: string }).id))
    return new Journal(file, new Set(ids))
  }

  has(id: string): boolean {
    return this.handled.has(id)
  }

  /** Ends once the event is on the disk. */
  async add({ id, timestamp, event }: VerifiedWebhook): Promise<void> {
    await this.file.appendFile(`${JSON.stringify({ id, timestamp, event })}\n`)
    await this.file.datasync()
    this.handled.add(id)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.file.close()
  }
}
