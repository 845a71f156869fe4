/** Memory that is reachable, without garbage that was not collected yet. */
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { sleep } from "./servers.ts"

setFlagsFromString("--expose-gc")
const collect = runInNewContext("gc") as () => void

/** Bytes on the heap and in external buffers after a full garbage collection. */
export const heldBytes = async (): Promise<number> => {
  for (let round = 0; round < 3; round++) {
    collect()
    await sleep(10)
  }
  const { external, heapUsed } = process.memoryUsage()
  return heapUsed + external
}
