/**
 * A child process that runs one call at a time, so that a call that ends its process interrupts nothing else.
 *
 * A thread would not do: an exhausted heap or a crash in native code ends the whole process. The process is started by
 * the first call and ends after a pause without calls. It gets neither the settings nor the secrets of the server.
 */
import { Context, Data, Duration, Effect, Layer, Semaphore } from "effect"
import { type ChildProcess, fork } from "node:child_process"

/** The process ended, or did not answer in time, during a call. The outcome of the call is unknown. */
export class QuarantineInterruption extends Data.TaggedError("QuarantineInterruption")<{ readonly message: string }> {}

/** The process could not start, which is no fault of the call. */
export class QuarantineUnavailable extends Data.TaggedError("QuarantineUnavailable")<{ readonly message: string }> {}

/** A call, as the process receives it. */
export interface QuarantineCall {
  readonly method: string
  readonly argument: unknown
}

/** A message of the process: that it has started, the result of a call, or the error that the call threw. */
export type QuarantineMessage =
  | { readonly _tag: "Started" }
  | { readonly _tag: "Result"; readonly result: unknown }
  | { readonly _tag: "Failure"; readonly code: string | undefined; readonly message: string }

/** A call threw in the process, which goes on. */
export class QuarantineCallError extends Data.TaggedError("QuarantineCallError")<{
  readonly code: string | undefined
  readonly message: string
}> {}

/**
 * Service that runs calls in quarantine.
 *
 * `call` fails with `QuarantineInterruption` when the process ended, and with `QuarantineCallError` when the method threw.
 * It dies with `QuarantineUnavailable` when the process could not start.
 */
export class QuarantineProcess extends Context.Service<
  QuarantineProcess,
  {
    readonly call: (
      method: string,
      argument: unknown
    ) => Effect.Effect<unknown, QuarantineCallError | QuarantineInterruption>
  }
>()("@govoice/server/jobs/QuarantineProcess") {}

const idleMs = 10_000

// A call that exhausts memory must end this process and not the container.
const maxHeapMiB = 128

const maxStderr = 1000

// The process must not read settings, connect to the database or decrypt.
const environmentOf = (environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(environment).filter(
      ([name]) => !name.startsWith("GOVOICE_") && !/^(?:DATABASE|REDIS)_URL$/.test(name)
    )
  )

const describeEnd = (code: number | null, signal: NodeJS.Signals | null, stderr: string): string => {
  const end = signal ?? `exit code ${code}`
  const [reason] = stderr.trim().split("\n").slice(-1)
  return reason ? `${end}: ${reason}` : end
}

/**
 * Layer that provides `QuarantineProcess`.
 *
 * `entry` is the module that the process runs, `start` the message that it gets first. A call that is not answered within
 * `timeoutMs` ends the process. A call that starts the process has `startMs` more.
 */
export const layer = (options: {
  readonly entry: URL
  readonly start: unknown
  readonly startMs: number
  readonly timeoutMs: number
}): Layer.Layer<QuarantineProcess> =>
  Layer.effect(
    QuarantineProcess,
    Effect.gen(function* () {
      const oneAtATime = yield* Semaphore.make(1)
      const started = new WeakSet<ChildProcess>()
      let latest: ChildProcess | undefined
      let running: ChildProcess | undefined
      let stderr = ""
      let idleTimer: NodeJS.Timeout | undefined

      const start = (): ChildProcess => {
        const child = fork(options.entry, {
          env: environmentOf(process.env),
          execArgv: [...process.execArgv, `--max-old-space-size=${maxHeapMiB}`],
          serialization: "advanced",
          // Standard output of the server is its log.
          stdio: ["ignore", "ignore", "pipe", "ipc"]
        })
        stderr = ""
        child.stderr?.setEncoding("utf8").on("data", (text: string) => {
          stderr = (stderr + text).slice(-maxStderr)
        })
        child.once("close", () => {
          if (running === child) running = undefined
        })
        child.on("error", () => {})
        child.once("message", () => started.add(child))
        child.send({ start: options.start })
        latest = child
        return child
      }

      const stop = (): void => {
        running?.kill("SIGKILL")
        running = undefined
      }

      yield* Effect.addFinalizer(() =>
        Effect.sync(() => {
          clearTimeout(idleTimer)
          stop()
        })
      )

      const callOnce = (call: QuarantineCall): Effect.Effect<unknown, QuarantineCallError | QuarantineInterruption> =>
        Effect.callback((resume) => {
          clearTimeout(idleTimer)
          if (running?.connected !== true) running = start()
          const child = running

          const finish = (effect: Effect.Effect<unknown, QuarantineCallError | QuarantineInterruption>): void => {
            child.off("message", onMessage).off("close", onEnd).off("error", onError)
            idleTimer = setTimeout(stop, idleMs).unref()
            resume(effect)
          }
          const onMessage = (answer: QuarantineMessage): void => {
            if (answer._tag === "Result") finish(Effect.succeed(answer.result))
            if (answer._tag === "Failure") finish(Effect.fail(new QuarantineCallError(answer)))
          }
          const onEnd = (code: number | null, signal: NodeJS.Signals | null): void => {
            const message = `The quarantine process ended with ${describeEnd(code, signal, stderr)}.`
            finish(
              started.has(child)
                ? Effect.fail(new QuarantineInterruption({ message }))
                : Effect.die(new QuarantineUnavailable({ message }))
            )
          }
          const onError = ({ message }: Error): void => {
            stop()
            finish(Effect.die(new QuarantineUnavailable({ message })))
          }
          child.on("message", onMessage).once("close", onEnd).once("error", onError)
          child.send(call)
          return Effect.sync(() => {
            stop()
            finish(Effect.void)
          })
        })

      const isStarted = (child: ChildProcess | undefined): boolean => child !== undefined && started.has(child)

      // A start that takes too long is no fault of the call.
      const onTimeout = (timeoutMs: number) =>
        Effect.suspend((): Effect.Effect<never, QuarantineInterruption> => {
          const message = `The quarantine process did not ${isStarted(latest) ? "answer" : "start"} within ${timeoutMs} ms.`
          return isStarted(latest)
            ? Effect.fail(new QuarantineInterruption({ message }))
            : Effect.die(new QuarantineUnavailable({ message }))
        })

      const callWithTimeout = (call: QuarantineCall) =>
        Effect.suspend(() => {
          const isReady = running?.connected === true && isStarted(running)
          const timeoutMs = options.timeoutMs + (isReady ? 0 : options.startMs)
          return Effect.timeoutOrElse(callOnce(call), {
            duration: Duration.millis(timeoutMs),
            orElse: () => onTimeout(timeoutMs)
          })
        })

      return { call: (method, argument) => oneAtATime.withPermit(callWithTimeout({ method, argument })) }
    })
  )
