/** Uncaught exceptions and unhandled rejections of this process, so that a test can assert that there were none. */
import { cleanup } from "./servers.ts"

export const watchFaults = (): ReadonlyArray<unknown> => {
  const faults: Array<unknown> = []
  const add = (fault: unknown) => {
    faults.push(fault)
  }
  process.on("uncaughtException", add)
  process.on("unhandledRejection", add)
  cleanup(() => {
    process.off("uncaughtException", add)
    process.off("unhandledRejection", add)
  })
  return faults
}
