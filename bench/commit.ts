/** A checkout of another commit in a temporary folder, with its dependencies. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { chmodSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"

const root = resolve(import.meta.dirname, "..")
const git = (...words: ReadonlyArray<string>): string =>
  execFileSync("git", words, { cwd: root, encoding: "utf8" }).trim()

let running: ChildProcess | undefined

/** Runs a command in a process group of its own until it ends, and returns its exit code. */
export const run = (command: string, words: ReadonlyArray<string>, cwd: string): Promise<number> =>
  new Promise((done, reject) => {
    const child = spawn(command, words, { cwd, stdio: "inherit", detached: true })
    running = child
    child.once("error", reject)
    child.once("exit", (code) => {
      running = undefined
      done(code ?? 1)
    })
  })

/** The short name of a commit. Throws where there is no such commit. */
export const nameOf = (commit: string): string => git("rev-parse", "--short", "--verify", `${commit}^{commit}`)

/**
 * Makes a worktree of a commit, installs its dependencies, which come from pnpm's store where they are there, and removes it
 * when this process ends, also after Ctrl-C.
 */
export const checkOut = async (commit: string): Promise<string> => {
  const folder = mkdtempSync(join(tmpdir(), "bench-commit-"))
  // Postgres refuses to run as root: its programs, which are in the checkout, run as a user of their own then.
  chmodSync(folder, 0o711)
  const directory = join(folder, "checkout")
  process.once("exit", () => {
    rmSync(folder, { recursive: true, force: true })
    git("worktree", "prune")
  })
  for (const [signal, code] of [
    ["SIGINT", 130],
    ["SIGTERM", 143]
  ] as const) {
    process.once(signal, () => {
      if (running?.pid === undefined) process.exit(code)
      // The group ends first, because its processes read the checkout.
      running.once("exit", () => process.exit(code))
      process.kill(-running.pid, "SIGTERM")
    })
  }
  git("worktree", "add", "--quiet", "--detach", directory, commit)
  const install = ["-y", "pnpm@12", "install", "--frozen-lockfile", "--prefer-offline", "--reporter=silent"]
  if ((await run("npx", install, directory)) !== 0) throw new Error(`The dependencies of ${commit} were not installed`)
  return directory
}
