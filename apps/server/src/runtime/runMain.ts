/** Runs a program as the process, until it ends or a signal stops it. */
import { Exit, Runtime } from "effect"

// npx and pnpm forward a signal that the whole process group received already, so copies arrive shortly after it.
const duplicateSignalWindowMs = 1000

const signals = ["SIGINT", "SIGTERM"] as const

/**
 * Runs a program until it ends. It reports its failures itself.
 *
 * The first SIGINT or SIGTERM interrupts it, and the process exits with 0 when it ends within `graceMs`, and with 1 then.
 * Another signal more than a second later exits at once.
 */
export const runMain = (graceMs: number) => {
  const run = Runtime.makeRunMain(({ fiber }) => {
    let stoppingAt: number | undefined

    const onSignal = () => {
      const now = performance.now()
      if (stoppingAt !== undefined && now - stoppingAt > duplicateSignalWindowMs) process.exit(130)
      if (stoppingAt !== undefined) return
      stoppingAt = now
      fiber.interruptUnsafe(fiber.id)
      setTimeout(() => process.exit(1), graceMs).unref()
    }

    for (const signal of signals) process.on(signal, onSignal)
    fiber.addObserver((exit) => {
      process.exit(stoppingAt !== undefined || Exit.isSuccess(exit) ? 0 : 1)
    })
  })
  return run({ disableErrorReporting: true })
}
