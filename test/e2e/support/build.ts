/**
 * The server as it is shipped: bundled once a run, by the suite that needs it first, into a folder of its own. So nothing
 * has to be built before, and nothing old is tried.
 */
import { execFile } from "node:child_process"
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { promisify } from "node:util"
import { inject } from "vitest"
import type { TestProject } from "vitest/node"

const server = join(import.meta.dirname, "../../../apps/server")

declare module "vitest" {
  interface ProvidedContext {
    /** Where the bundle of this run is, or will be. */
    readonly bundle: string
  }
}

export default ({ provide }: TestProject): (() => void) => {
  // Inside the package, where the bundle finds what is not bundled.
  const folder = join(server, "node_modules/.cache", `bundle-${process.pid}-${Date.now()}`)
  const remove = () => rmSync(folder, { recursive: true, force: true })
  process.once("exit", remove)
  provide("bundle", folder)
  return remove
}

const isFirst = (folder: string): boolean => {
  try {
    mkdirSync(folder)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false
    throw error
  }
}

/** Builds the server unless that has been done in this run, and returns the file of the `govoice` command. */
export const builtCommand = async (): Promise<string> => {
  const folder = inject("bundle")
  const done = join(folder, "done")
  const command = join(folder, "dist/cli.js")
  if (existsSync(done)) return command
  mkdirSync(join(folder, ".."), { recursive: true })
  if (isFirst(folder)) {
    await promisify(execFile)(join(server, "node_modules/.bin/tsup"), ["--out-dir", join(folder, "dist")], {
      cwd: server
    })
    writeFileSync(done, "")
    return command
  }
  for (let waited = 0; waited < 50_000; waited += 50) {
    if (existsSync(done)) return command
    await sleep(50)
  }
  throw new Error("The server was not built in time")
}
