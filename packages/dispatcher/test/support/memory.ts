/** What is really held, rather than what was not collected yet. */
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { sleep } from "./servers.ts"

setFlagsFromString("--expose-gc")
const collect = runInNewContext("gc") as () => void

/** Bytes on the heap, and in the buffers it holds, after everything that can be collected was. */
export const heldBytes = async (): Promise<number> => {
  for (let round = 0; round < 3; round++) {
    collect()
    await sleep(10)
  }
  const { external, heapUsed } = process.memoryUsage()
  return heapUsed + external
}
