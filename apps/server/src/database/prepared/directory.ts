/** The files of a data directory on disk. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join, relative } from "node:path"
import type { Files } from "./Pack.ts"

/** Reads every file below a directory. */
export const readFiles = (directory: string): Files => {
  const directories: Array<string> = []
  const files = new Map<string, Uint8Array>()
  const visit = (folder: string): void => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name)
      const name = relative(directory, path)
      if (entry.isDirectory()) {
        directories.push(name)
        visit(path)
      } else files.set(name, readFileSync(path))
    }
  }
  visit(directory)
  return { directories, files }
}

/** Writes files below an empty directory, for their owner only. */
export const writeFiles = (directory: string, { directories, files }: Files): void => {
  for (const path of directories) mkdirSync(join(directory, path), { mode: 0o700 })
  for (const [path, data] of files) writeFileSync(join(directory, path), data, { mode: 0o600 })
}
