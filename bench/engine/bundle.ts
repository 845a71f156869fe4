/** Bundles the server as it is shipped, into a folder that is removed after the benchmark. */
import { execFileSync } from "node:child_process"
import { rmSync } from "node:fs"
import { join } from "node:path"

const server = join(import.meta.dirname, "../../apps/server")

/** Builds the server, and returns the file of the `govoice` command. */
export const bundle = (): string => {
  // Inside the package, where the bundle finds the dependencies that are not bundled.
  const folder = join(server, "node_modules/.cache", `bench-${process.pid}`)
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }))
  execFileSync(join(server, "node_modules/.bin/tsup"), ["--out-dir", join(folder, "dist")], {
    cwd: server,
    stdio: "pipe"
  })
  return join(folder, "dist/cli.js")
}
