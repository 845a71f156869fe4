/**
 * The server as it is shipped: bundled once a run, by the suite that needs it first, into a folder of its own. So nothing
 * has to be built before, and nothing old is tried.
 */
import { execFile } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
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

const build = async (folder: string): Promise<string> => {
  try {
    const bundler = join(server, "node_modules/.bin/tsup")
    await promisify(execFile)(bundler, ["--out-dir", join(folder, "dist")], { cwd: server })
    return ""
  } catch (error) {
    return String(error)
  }
}

/** Builds the server unless that has been done in this run, and returns the file of the `govoice` command. */
export const builtCommand = async (): Promise<string> => {
  const folder = inject("bundle")
  const outcome = join(folder, "outcome")
  mkdirSync(join(folder, ".."), { recursive: true })
  if (isFirst(folder)) {
    writeFileSync(`${outcome}.part`, await build(folder))
    renameSync(`${outcome}.part`, outcome)
  }
  for (let waited = 0; !existsSync(outcome); waited += 50) {
    if (waited > 50_000) throw new Error("The server was not built in time")
    await sleep(50)
  }
  const failure = readFileSync(outcome, "utf8")
  if (failure !== "") throw new Error(`The server was not built:\n${failure}`)
  return join(folder, "dist/cli.js")
}
