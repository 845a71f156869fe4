/**
 * A global setup that the projects of a run share. Vitest runs it for each project and loads its module each time, in one
 * process.
 */
import type { ProvidedContext } from "vitest"
import type { TestProject } from "vitest/node"

interface Running {
  /** The values that tests get with `inject`. */
  readonly provided: Partial<ProvidedContext>
  readonly stop: () => Promise<void> | void
}

const setups = globalThis as { [key: symbol]: Promise<Running> | undefined }

/** Starts something for the first project that asks for it, and stops it after the last test of the run. */
export const sharedSetup =
  (name: string, start: () => Promise<Running> | Running) =>
  async ({ provide }: TestProject): Promise<() => Promise<void>> => {
    const key = Symbol.for(`@govoice/test/${name}`)
    const setup = (setups[key] ??= Promise.resolve(start()))
    const { provided, stop } = await setup
    for (const [member, value] of Object.entries(provided) as Array<[keyof ProvidedContext, string]>) {
      provide(member, value)
    }
    return async () => {
      if (setups[key] !== setup) return
      setups[key] = undefined
      await stop()
    }
  }
