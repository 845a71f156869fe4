/**
 * Runs all benchmarks in turn, or those that are named. The report of each states the limits of the measurement. A benchmark
 * fails when it misses a goal of the project.
 */
import { spawnSync } from "node:child_process"
import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"

const here = import.meta.dirname

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
