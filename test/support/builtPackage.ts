/**
 * Builds a package for tests of the published files, if a source is newer than the build. Test files run concurrently, so one
 * builds and the others wait.
 */
import { execFileSync } from "node:child_process"
import { existsSync, globSync, mkdirSync, rmdirSync, statSync } from "node:fs"
import { dirname, join } from "node:path"
import { createRequire } from "node:module"
import { patienceMs } from "./patienceMs.ts"

const pause = (millis: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, millis)

const isCurrent = (root: string, dist: string): boolean => {
  const built = ["index.js", "index.cjs", "index.d.ts", "index.d.cts", "effect.js", "effect.d.ts"].map((name) =>
    join(dist, name)
  )
  if (!built.every((path) => existsSync(path))) return false
  const oldest = Math.min(...built.map((path) => statSync(path).mtimeMs))
  const sources = [...globSync("src/**/*.ts", { cwd: root }), "tsup.config.ts"].map((path) => join(root, path))
  return sources.every((path) => statSync(path).mtimeMs < oldest)
}

const buildOnce = (root: string, dist: string): void => {
  const lock = join(root, "node_modules", ".building")
  const deadline = Date.now() + patienceMs
  for (;;) {
    try {
      mkdirSync(lock)
      break
    } catch (error) {
      if (Date.now() > deadline)
        throw new Error(`${lock} is held by another process. Delete it if no test is running.`, { cause: error })
      pause(200)
    }
  }
  try {
    if (isCurrent(root, dist)) return
    const tsup = join(
      dirname(createRequire(join(root, "../../package.json")).resolve("tsup/package.json")),
      "dist/cli-default.js"
    )
    execFileSync(process.execPath, [tsup, "--silent"], { cwd: root, stdio: ["ignore", "ignore", "inherit"] })
  } finally {
    rmdirSync(lock)
  }
}

/** Returns the package in this folder: the folder, that of its build, and the function that returns after it is built. */
export const builtPackage = (root: string) => {
  const dist = join(root, "dist")
  return { root, dist, build: () => buildOnce(root, dist) }
}
