/**
 * Starts a server for the demo: embedded Postgres in memory, a free port, and webhooks to
 * loopback addresses allowed. It does not inherit settings from the environment.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"

const entry = fileURLToPath(new URL("../../../apps/server/src/main.ts", import.meta.url))

const withinMs = 45_000

export interface RunningServer {
  readonly url: string
  readonly stop: () => Promise<void>
}

export const startServer = async (settings: Readonly<Record<string, string>>): Promise<RunningServer> => {
  const child = spawn(process.execPath, ["--conditions=source", entry], {
    env: {
      PATH: process.env["PATH"],
      HOST: "127.0.0.1",
      PORT: "0",
      GOVOICE_DATA_DIR: "memory",
      GOVOICE_WEBHOOK_ALLOW_HTTP: "true",
      GOVOICE_WEBHOOK_ALLOW_NETWORKS: "127.0.0.0/8",
      ...settings
    },
    stdio: ["ignore", "pipe", "pipe"]
  })

  let output = ""
  const url = await new Promise<string>((resolve, reject) => {
    const fail = (why: string) => reject(new Error(`The server ${why}. Output:\n${output.trim() || "(nothing)"}`))
    const timer = setTimeout(() => {
      child.kill("SIGKILL")
      fail(`did not start within ${withinMs / 1000} s`)
    }, withinMs)
    const listen = (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-8192)
      const address = /API\s+(http:\S+)\/v1/.exec(output)?.[1]
      if (address === undefined) return
      clearTimeout(timer)
      resolve(address)
    }
    child.stdout.on("data", listen)
    child.stderr.on("data", listen)
    child.once("exit", (code) => {
      clearTimeout(timer)
      fail(`ended with code ${code} before it was ready`)
    })
  })

  return {
    url,
    stop: async () => {
      if (child.exitCode !== null) return
      const ended = once(child, "exit")
      child.kill("SIGTERM")
      const timer = setTimeout(() => child.kill("SIGKILL"), 20_000)
      await ended
      clearTimeout(timer)
    }
  }
}
