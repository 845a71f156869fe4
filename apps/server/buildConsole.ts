/** Builds `apps/console` when its files are missing or older than its sources. */
import { spawn } from "node:child_process"
import { existsSync, globSync, statSync } from "node:fs"
import { join } from "node:path"

const root = join(import.meta.dirname, "../..")
const folder = join(root, "apps/console")
const built = join(folder, "dist/index.html")

// The page contains the client.
const sources = ["apps/console/*.*", "apps/console/src/**", "packages/client/src/**", "pnpm-lock.yaml"]

const isCurrent = (): boolean => {
  const builtAt = statSync(built, { throwIfNoEntry: false })?.mtimeMs
  if (builtAt === undefined) return false
  return globSync(sources, { cwd: root }).every((path) => statSync(join(root, path)).mtimeMs <= builtAt)
}

const build = (): Promise<boolean> =>
  new Promise((resolve) => {
    // Standard output is for log lines.
    const child = spawn(process.execPath, ["build.ts"], { cwd: folder, stdio: ["ignore", 2, 2] })
    child.once("error", () => resolve(false))
    child.once("close", (code) => resolve(code === 0))
  })

/** Builds the console unless it is current. A failure is reported, and the server starts without the page. */
export const buildConsole = async (): Promise<void> => {
  if (!existsSync(join(folder, "build.ts")) || isCurrent()) return
  if (process.env["GOVOICE_CONSOLE"] === "off" || process.env["GOVOICE_ROLE"] === "worker") return
  if (!(await build())) process.stderr.write("The console could not be built. The server starts without it.\n")
}

if (import.meta.main) await buildConsole()
