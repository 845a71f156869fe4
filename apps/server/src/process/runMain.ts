/**
 * Runs the program as the process: until it ends, or until somebody asks it to stop.
 *
 * @since 0.1.0
 */
import { Exit, Runtime } from "effect"

// npx and pnpm hand a signal on that the whole group got already, so copies of the first arrive right behind it.
const copiesWithinMs = 1000

const signals = ["SIGINT", "SIGTERM"] as const

/**
 * Runs a program until it ends.
 *
 * **Details**
 *
 * The first SIGINT or SIGTERM asks it to stop, and the process ends with 0 when it has. It has `graceMs` for that. Another
 * signal more than a second later ends the process at once.
 *
 * @category running
 * @since 0.1.0
 */
export const runMain = (graceMs: number) =>
  Runtime.makeRunMain(({ fiber }) => {
    let askedAt: number | undefined

    const onSignal = () => {
      const now = performance.now()
      if (askedAt !== undefined && now - askedAt > copiesWithinMs) process.exit(130)
      if (askedAt !== undefined) return
      askedAt = now
      fiber.interruptUnsafe(fiber.id)
      setTimeout(() => process.exit(1), graceMs).unref()
    }

    for (const signal of signals) process.on(signal, onSignal)
    fiber.addObserver((exit) => {
      process.exit(askedAt !== undefined || Exit.isSuccess(exit) ? 0 : 1)
    })
  })
