/**
 * The server as others run it: the command that is shipped, built, in a process of its own, its settings in the
 * environment, its log on standard output.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { builtCommand } from "./build.ts"

/** The secrets of deployments in tests. */
export const secrets = {
  GOVOICE_JWT_SECRET: "a secret of the tests, long enough to sign with",
  GOVOICE_ENCRYPTION_KEYS: `k1:${Buffer.alloc(32, 7).toString("base64")}`
}

export interface Server {
  readonly url: string
  readonly port: number
  readonly process: ChildProcess
  /** Everything that the process wrote so far. */
  readonly output: () => string
  /** Asks it to stop, and returns its exit code. */
  readonly stop: () => Promise<number | null>
  /** Ends it without a word, as kill -9 does. */
  readonly kill: () => Promise<void>
}

type Settings = Readonly<Record<string, string>>

const launch = async (settings: Settings) => {
  const child = spawn(process.execPath, [await builtCommand(), "serve"], {
    env: { PATH: process.env["PATH"], PORT: "0", GOVOICE_SANDBOX_STEP_MS: "20", ...settings },
    stdio: ["ignore", "pipe", "pipe"]
  })
  let written = ""
  const note = (chunk: Buffer) => void (written += chunk.toString())
  child.stdout.on("data", note)
  child.stderr.on("data", note)
  return { child, output: () => written }
}

const ended = async (child: ChildProcess): Promise<number | null> => {
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit")
  return child.exitCode
}

/** Runs it with settings that it cannot start with, and returns its exit code and what it said. */
export const startInVain = async (settings: Settings) => {
  const { child, output } = await launch(settings)
  const timer = setTimeout(() => child.kill("SIGKILL"), 30_000)
  const exitCode = await ended(child)
  clearTimeout(timer)
  return { exitCode, output: output() }
}

/** Starts it and waits until it listens. */
export const startServer = async (settings: Settings): Promise<Server> => {
  const { child, output } = await launch(settings)
  const deadline = Date.now() + 50_000
  for (;;) {
    const url = /^ {2}API +(?<url>http\S+)\/v1$/m.exec(output())?.groups?.["url"]
    if (url !== undefined) {
      return {
        url,
        port: Number(new URL(url).port),
        process: child,
        output,
        stop: () => {
          child.kill("SIGTERM")
          return ended(child)
        },
        kill: async () => {
          child.kill("SIGKILL")
          await ended(child)
        }
      }
    }
    if (child.exitCode !== null || Date.now() > deadline) {
      child.kill("SIGKILL")
      throw new Error(`The server did not start:\n${output()}`)
    }
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
