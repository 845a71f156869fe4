/** Work that the first suite of a run does for all suites, across the processes that run them. */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { patienceMs } from "./patienceMs.ts"

const isFirst = (folder: string): boolean => {
  try {
    mkdirSync(folder)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false
    throw error
  }
}

/**
 * Calls `make` in the first process that asks for a folder, and waits for its result in the others. The folder, which
 * `make` fills, is new in each run. Fails everywhere with the error of `make`.
 */
export const onceInRun = async (folder: string, make: () => Promise<unknown>): Promise<void> => {
  const outcome = `${folder}.outcome`
  mkdirSync(dirname(folder), { recursive: true })
  if (isFirst(folder)) {
    const failure = await make().then(
      () => "",
      (error: unknown) => String(error)
    )
    writeFileSync(`${outcome}.part`, failure)
    renameSync(`${outcome}.part`, outcome)
  }
  for (const deadline = Date.now() + patienceMs; !existsSync(outcome); await sleep(50)) {
    if (Date.now() > deadline) throw new Error(`${folder} was not made`)
  }
  const failure = readFileSync(outcome, "utf8")
  if (failure !== "") throw new Error(failure)
}
