/**
 * Starts the real server in a process of its own, with the embedded database in memory and short sandbox steps.
 */
import { join } from "node:path"
import { ServerProcess } from "../../../../test/support/serverProcess.ts"

const root = join(import.meta.dirname, "../../../..")

export interface Service extends AsyncDisposable {
  readonly baseUrl: string
}

/** Starts a server on a free loopback port. Resolves when it is ready. */
export const startService = async (settings: Record<string, string> = {}): Promise<Service> => {
  const server = new ServerProcess(
    ["--conditions=source", join(root, "apps/server/src/main.ts")],
    { PORT: "0", GOVOICE_DATA_DIR: "memory", GOVOICE_SANDBOX_STEP_MS: "50", ...settings },
    { cwd: root }
  )
  // The server must not outlive the tests.
  const kill = () => void server.kill()
  process.once("exit", kill)
  const baseUrl = await server.started()

  return {
    baseUrl,
    [Symbol.asyncDispose]: async () => {
      const timer = setTimeout(kill, 10_000)
      await server.stop()
      clearTimeout(timer)
      process.off("exit", kill)
    }
  }
}
