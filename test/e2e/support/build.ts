/**
 * The server as it is shipped. Bundles it once in a run, into a folder of its own, so that no build is needed before. A build that
 * is newer than all sources is used as it is: bundling takes as much as fifty starts.
 */
import { execFile } from "node:child_process"
import { globSync, rmSync, statSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { inject } from "vitest"
import { buildConsole } from "../../../apps/server/buildConsole.ts"
import { onceInRun } from "../../support/onceInRun.ts"
import { sharedSetup } from "../../support/sharedSetup.ts"

const server = join(import.meta.dirname, "../../../apps/server")

declare module "vitest" {
  interface ProvidedContext {
    /** The folder of this run that has the bundle, or will have it. */
    readonly bundle: string
  }
}

export default sharedSetup("bundle", () => {
  // Inside the package, where the bundle finds the dependencies that are not bundled.
  const bundle = join(server, "node_modules/.cache", `bundle-${process.pid}-${Date.now()}`)
  const stop = () => rmSync(bundle, { recursive: true, force: true })
  process.once("exit", stop)
  return { provided: { bundle }, stop }
})

const sources = [
  "{apps/server,packages/*}/{src/**,*.ts,package.json}",
  "apps/console/{src/**,*.*}",
  "patches/**",
  "pnpm-lock.yaml"
]

const changedAt = (path: string): number | undefined => statSync(path, { throwIfNoEntry: false })?.mtimeMs

const isBuilt = (): boolean => {
  const builtAt = changedAt(join(server, "dist/cli.js"))
  // The console is copied last.
  if (builtAt === undefined || changedAt(join(server, "dist/console/index.html")) === undefined) return false
  const root = join(server, "../..")
  return globSync(sources, { cwd: root }).every((path) => (changedAt(join(root, path)) ?? 0) <= builtAt)
}

let built: boolean | undefined

/** Builds the server unless it is built, and returns the file of the `govoice` command. */
export const builtCommand = async (): Promise<string> => {
  built ??= isBuilt()
  if (built) return join(server, "dist/cli.js")
  const folder = join(inject("bundle"), "server")
  const bundler = join(server, "node_modules/.bin/tsup")
  await onceInRun(folder, async () => {
    await buildConsole()
    await promisify(execFile)(bundler, ["--out-dir", join(folder, "dist")], { cwd: server })
  })
  return join(folder, "dist/cli.js")
}
