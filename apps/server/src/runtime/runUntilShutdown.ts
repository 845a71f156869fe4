/** Runs a program as the process, until it ends or a signal stops it. */
import { Exit, Runtime } from "effect"
import * as ProcessFault from "../jobs/ProcessFault.ts"

// npx and pnpm forward a signal that the whole process group received already, so copies arrive shortly after it.
const duplicateSignalWindowMs = 1000

const signals = ["SIGINT", "SIGTERM"] as const

// How long workers have to write the completions that are ready after an uncaught exception.
const faultGraceMs = 1000

/** How a program ends. */
export interface MainOptions {
  /** How long it may take to end after a signal, in milliseconds. */
  readonly graceMs: number
  /** Called with an exception that nothing caught, or the reason of a rejection that nothing handled. */
  readonly onFault: (error: unknown) => void
  /** Called with the first signal. */
  readonly onStop: (signal: NodeJS.Signals) => void
}

/**
 * Runs a program until it ends. It reports its failures itself.
 *
 * The first SIGINT or SIGTERM interrupts it, and the process exits with 0 when it ends within `graceMs`, and with 1 then.
 * Another signal more than a second later exits at once. An uncaught exception interrupts it too, and the process exits with 1
 * within a second.
 */
export const runUntilShutdown = ({ graceMs, onFault, onStop }: MainOptions) => {
  const run = Runtime.makeRunMain(({ fiber }) => {
    let stoppingAt: number | undefined
    let isFaulty = false

    const onSignal = (signal: NodeJS.Signals) => {
      const now = performance.now()
      if (stoppingAt !== undefined && now - stoppingAt > duplicateSignalWindowMs) process.exit(130)
      if (stoppingAt !== undefined) return
      stoppingAt = now
      onStop(signal)
      fiber.interruptUnsafe(fiber.id)
      setTimeout(() => process.exit(1), graceMs).unref()
    }

    for (const signal of signals) process.on(signal, onSignal)
    // Also called for unhandled rejections.
    process.on("uncaughtException", (error) => {
      if (isFaulty) return
      isFaulty = true
      ProcessFault.record()
      setTimeout(() => process.exit(1), faultGraceMs)
      onFault(error)
      fiber.interruptUnsafe(fiber.id)
    })
    fiber.addObserver((exit) => {
      process.exit(!isFaulty && (stoppingAt !== undefined || Exit.isSuccess(exit)) ? 0 : 1)
    })
  })
  return run({ disableErrorReporting: true })
}
