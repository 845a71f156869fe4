/** The bundled `govoice` command in a process, configured by its environment. */
import type { ChildProcess } from "node:child_process"
import { type LogLine, ServerProcess } from "../../support/serverProcess.ts"
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
  /** The output so far. */
  readonly output: () => string
  /** The log lines so far. */
  readonly log: () => ReadonlyArray<LogLine>
  /** Stops it gracefully, and returns its exit code. */
  readonly stop: () => Promise<number | null>
  /** Kills it with SIGKILL. */
  readonly kill: () => Promise<void>
}

type Settings = Readonly<Record<string, string>>

const launch = async (settings: Settings): Promise<ServerProcess> =>
  new ServerProcess([await builtCommand(), "serve"], { PORT: "0", GOVOICE_SANDBOX_STEP_MS: "20", ...settings })

/** Runs it with settings that prevent the start. */
export const startAndFail = async (settings: Settings, withinMs = 100_000) => {
  const server = await launch(settings)
  const timer = setTimeout(() => void server.kill(), withinMs)
  const exitCode = await server.exited
  clearTimeout(timer)
  return { exitCode, stdout: server.stdout, stderr: server.stderr, output: server.text }
}

/** Starts it without waiting. */
export const launchServer = launch

/** Starts it and waits until it listens. */
export const startServer = async (settings: Settings): Promise<Server> => {
  const server = await launch(settings)
  const url = await server.started()
  return {
    url,
    port: Number(new URL(url).port),
    process: server.child,
    log: () => server.log,
    output: () => server.text,
    stop: () => server.stop(),
    kill: async () => void (await server.kill())
  }
}
