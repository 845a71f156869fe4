/**
 * Starts the real server in a process of its own, with the embedded database in memory and short sandbox steps.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { join } from "node:path"

const root = join(import.meta.dirname, "../../../..")

export interface Service extends AsyncDisposable {
  readonly baseUrl: string
}

const ended = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve()
    child.once("exit", () => resolve())
  })

/** Starts a server on a free loopback port. Resolves when it is ready. */
export const startService = async (settings: Record<string, string> = {}): Promise<Service> => {
  const child = spawn(process.execPath, ["--conditions=source", join(root, "apps/server/src/main.ts")], {
    cwd: root,
    env: {
      PATH: process.env["PATH"],
      PORT: "0",
      GOVOICE_DATA_DIR: "memory",
      GOVOICE_SANDBOX_STEP_MS: "50",
      ...settings
    },
    stdio: ["ignore", "pipe", "pipe"]
  })
  // The server must not outlive the tests.
  const kill = () => child.kill("SIGKILL")
  process.once("exit", kill)

  let said = ""
  child.stdout.on("data", (chunk: Buffer) => (said += chunk.toString()))
  child.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()))
  const stop = async () => {
    child.kill("SIGTERM")
    const timer = setTimeout(kill, 10_000)
    await ended(child)
    clearTimeout(timer)
    process.off("exit", kill)
  }

  const until = Date.now() + 60_000
  while (Date.now() < until && child.exitCode === null) {
    const baseUrl = /(?<url>http:\/\/127\.0\.0\.1:\d+)/.exec(said)?.groups!["url"]
    const isReady =
      baseUrl !== undefined &&
      (await fetch(`${baseUrl}/readyz`).then(
        ({ ok }) => ok,
        () => false
      ))
    if (isReady) return { baseUrl, [Symbol.asyncDispose]: stop }
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  await stop()
  throw new Error(`The server did not start: ${said}`)
}
