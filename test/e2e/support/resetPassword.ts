import { spawn } from "node:child_process"
import { once } from "node:events"
import { text } from "node:stream/consumers"
import { builtCommand } from "./build.ts"

/** Runs `govoice account reset-password` with the password on standard input. */
export const resetPassword = async (email: string, password: string, settings: Readonly<Record<string, string>>) => {
  const child = spawn(process.execPath, [await builtCommand(), "account", "reset-password", email], {
    env: { PATH: process.env["PATH"], ...settings }
  })
  child.stdin.end(password)
  const exited = once(child, "close")
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  await exited
  return { exitCode: child.exitCode, stdout, stderr }
}
