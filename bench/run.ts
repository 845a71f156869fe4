/**
 * Runs all benchmarks in turn, or those that are named; `compare COMMIT [engine|api|dispatcher] [ROUNDS]` runs one for this
 * checkout and a commit in turns. The report of each states the limits of the measurement. A benchmark fails when a ratio to
 * a peer or a floor of the same run misses a goal of the project.
 */
import { spawnSync } from "node:child_process"
import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { compare } from "./compare.ts"

const here = import.meta.dirname

if (process.argv[2] === "compare") process.exit(await compare(process.argv.slice(3)))

const all = readdirSync(here).filter((name) => existsSync(join(here, name, "run.ts")))
const named = process.argv.slice(2)
const unknown = named.filter((name) => !all.includes(name))

if (unknown.length > 0) {
  console.error(`There is no benchmark named ${unknown.join(", ")}. There are: ${all.join(", ")}.`)
  process.exit(2)
}

const failed = (named.length === 0 ? all : named).filter((name) => {
  console.log(`\n# ${name}\n`)
  const { status } = spawnSync(process.execPath, ["--conditions=source", "--expose-gc", join(here, name, "run.ts")], {
    stdio: "inherit"
  })
  return status !== 0
})

if (failed.length > 0) {
  console.error(`\nNot reached: ${failed.join(", ")}`)
  process.exitCode = 1
}
