/** Bundles the server as it is shipped, once in a run and into a folder of its own, so that no build is needed before. */
import { execFile } from "node:child_process"
import { rmSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { inject } from "vitest"
import type { TestProject } from "vitest/node"
import { buildConsole } from "../../../apps/server/buildConsole.ts"
import { onceInRun } from "../../support/onceInRun.ts"

const server = join(import.meta.dirname, "../../../apps/server")

declare module "vitest" {
  interface ProvidedContext {
    /** The folder of this run that has the bundle, or will have it. */
    readonly bundle: string
  }
}

export default ({ provide }: TestProject): (() => void) => {
  // Inside the package, where the bundle finds the dependencies that are not bundled.
  const folder = join(server, "node_modules/.cache", `bundle-${process.pid}-${Date.now()}`)
  const remove = () => rmSync(folder, { recursive: true, force: true })
  process.once("exit", remove)
  provide("bundle", folder)
  return remove
}

/** Builds the server unless this run has built it, and returns the file of the `govoice` command. */
export const builtCommand = async (): Promise<string> => {
  const folder = join(inject("bundle"), "server")
  const bundler = join(server, "node_modules/.bin/tsup")
  await onceInRun(folder, async () => {
    await buildConsole()
    await promisify(execFile)(bundler, ["--out-dir", join(folder, "dist")], { cwd: server })
  })
  return join(folder, "dist/cli.js")
}
