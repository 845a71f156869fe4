/**
 * A file of records, one line of JSON each, that is only ever appended to. A later record replaces an earlier one of the
 * same kind and key; what a reader makes of that is its own.
 *
 * Lines are handed to the operating system before an answer leaves, without waiting for the disk: they outlive the process,
 * not the machine.
 */
import { closeSync, existsSync, openSync, readFileSync, renameSync, rmSync, writeSync } from "node:fs"

/** A record: its kind, its key, and its value. */
export type JournalRecord = readonly [kind: string, key: string, value: unknown]

/** Takes records. */
export interface Journal {
  readonly append: (...record: JournalRecord) => void
  /** Hands what was appended to the operating system. */
  readonly flush: () => void
  readonly close: () => void
}

/** A journal without a file. */
export const inMemory: Journal = { append: () => {}, flush: () => {}, close: () => {} }

const version = JSON.stringify("govoice-ksef-simulator 1")

/**
 * Reads the records of a file, writes what `compact` makes of them in its place, and appends to it from then on. The last
 * line of a file may be torn, since a process can end while it writes.
 *
 * @throws {Error} when another process uses the file, or it is no journal, or damaged before its last line.
 */
export const openJournal = (
  path: string,
  compact: (records: ReadonlyArray<JournalRecord>) => Iterable<JournalRecord>
): Journal => {
  const lock = `${path}.lock`
  claim(lock, path)
  try {
    return openClaimed(path, lock, compact(readRecords(path)))
  } catch (error) {
    rmSync(lock, { force: true })
    throw error
  }
}

const readRecords = (path: string): ReadonlyArray<JournalRecord> => {
  if (!existsSync(path)) return []
  const [first, ...lines] = readFileSync(path, "utf8").split("\n").slice(0, -1)
  if (first === undefined) return []
  if (first !== version) {
    throw new Error(`Expected a state file of the KSeF simulator at ${path}. Name another file, or delete this one.`)
  }
  return lines.map((line, index) => {
    try {
      return JSON.parse(line) as JournalRecord
    } catch {
      throw new Error(`Expected JSON in line ${index + 2} of ${path}. The file is damaged: delete it to begin anew.`)
    }
  })
}

const openClaimed = (path: string, lock: string, records: Iterable<JournalRecord>): Journal => {
  const next = `${path}.next`
  const file = openSync(next, "w", 0o600)
  let waiting: Array<string> = [version]
  const flush = (): void => {
    if (waiting.length === 0) return
    const lines = Buffer.from(`${waiting.join("\n")}\n`)
    waiting = []
    for (let written = 0; written < lines.length;) written += writeSync(file, lines, written)
  }
  for (const record of records) {
    waiting.push(JSON.stringify(record))
    if (waiting.length === 1000) flush()
  }
  flush()
  renameSync(next, path)
  return {
    append: (...record) => {
      waiting.push(JSON.stringify(record))
    },
    flush,
    close: () => {
      flush()
      closeSync(file)
      rmSync(lock, { force: true })
    }
  }
}

const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM"
  }
}

// Two simulators that append to one file would replace each other's records.
const claim = (lock: string, path: string): void => {
  for (const attempt of [1, 2]) {
    try {
      const file = openSync(lock, "wx", 0o600)
      writeSync(file, String(process.pid))
      closeSync(file)
      return
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error
    }
    const owner = Number(readFileSync(lock, "utf8"))
    if (attempt === 2 || (owner > 0 && isRunning(owner))) {
      throw new Error(`The state file ${path} is in use by process ${owner}. Stop it, or name another file.`)
    }
    rmSync(lock, { force: true })
  }
}
