/**
 * Runs pnpm.
 */
import { execFileSync } from "node:child_process"

/** Runs pnpm in a folder and returns its output. */
export const pnpm = (cwd: string, ...args: ReadonlyArray<string>): string =>
  execFileSync("npx", ["-y", "pnpm@12", ...args], {
    cwd,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
    stdio: ["ignore", "pipe", "pipe"]
  })
