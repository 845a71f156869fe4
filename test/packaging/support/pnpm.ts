/**
 * The package manager of the repository.
 */
import { execFileSync } from "node:child_process"

/** Runs it in a folder, and returns what it printed. */
export const pnpm = (cwd: string, ...args: ReadonlyArray<string>): string =>
  execFileSync("npx", ["-y", "pnpm@12", ...args], {
    cwd,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
    stdio: ["ignore", "pipe", "pipe"]
  })
