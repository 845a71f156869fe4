/**
 * A child process that runs one call and ends, so that a call that ends its process takes nothing else along.
 *
 * A thread would not do: an exhausted heap or a crash in native code ends the whole process. The child gets neither the settings
 * nor the secrets of the server.
 */
import { Data, Effect } from "effect"
import { fork } from "node:child_process"

/** The process ended, or did not answer in time, during the call. The outcome of the call is unknown. */
export class SpareProcessEnded extends Data.TaggedError("SpareProcessEnded")<{ readonly message: string }> {}

/** The process could not start, which is no fault of the call. */
export class SpareProcessUnavailable extends Data.TaggedError("SpareProcessUnavailable")<{
  readonly message: string
}> {}

/** A message of the process: that it begins the call, and how that ended. */
export type SpareMessage =
  | { readonly _tag: "Started" }
  | { readonly _tag: "Result"; readonly result: unknown }
  | { readonly _tag: "Failure"; readonly code: string | undefined; readonly message: string }

// A call that exhausts memory must end this process and not the container.
const maxHeapMiB = 128
const maxStderr = 1000

const environmentOf = (environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(environment).filter(([name]) => !name.startsWith("GOVOICE_") && !/^(?:DATABASE|REDIS)_/.test(name))
  )

/**
 * Runs a call: `entry` is the module of the process, which answers `input` by `serveCall`. The process has `startMs` to start, and
 * `timeoutMs` to answer.
 */
export const run = (
  entry: URL,
  input: unknown,
  { startMs, timeoutMs }: { readonly startMs: number; readonly timeoutMs: number }
): Effect.Effect<Exclude<SpareMessage, { _tag: "Started" }>, SpareProcessEnded | SpareProcessUnavailable> =>
  Effect.callback((resume) => {
    let stderr = ""
    let isStarted = false
    const child = fork(entry, {
      env: environmentOf(process.env),
      execArgv: [...process.execArgv, `--max-old-space-size=${maxHeapMiB}`],
      serialization: "advanced",
      // Standard output of the server is its log.
      stdio: ["ignore", "ignore", "pipe", "ipc"]
    })
    const end = (message: string) => {
      clearTimeout(timer)
      child.kill("SIGKILL")
      resume(isStarted ? new SpareProcessEnded({ message }) : new SpareProcessUnavailable({ message }))
    }
    const within = (milliseconds: number, does: string) =>
      setTimeout(() => end(`The process did not ${does} within ${milliseconds} ms.`), milliseconds)
    let timer = within(startMs, "start")
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      stderr = (stderr + text).slice(-maxStderr)
    })
    child.on("error", ({ message }) => end(message))
    child.on("message", (message: SpareMessage) => {
      clearTimeout(timer)
      if (message._tag !== "Started") return resume(Effect.succeed(message))
      isStarted = true
      timer = within(timeoutMs, "answer")
    })
    child.on("close", (code, signal) => {
      const [reason] = stderr.trim().split("\n").slice(-1)
      end(`The process ended with ${signal ?? `exit code ${code}`}${reason ? `: ${reason}` : ""}.`)
    })
    child.send({ input }, () => {})
    return Effect.sync(() => {
      clearTimeout(timer)
      child.kill("SIGKILL")
    })
  })

/** The other end of `run`: answers the one call of this process, and ends it. */
export const serveCall = (answer: (input: never) => Promise<unknown>): void => {
  // One line, which the server logs.
  process.once("uncaughtException", (error: unknown) => {
    process.stderr.write(`${String(error)}\n`)
    process.exit(1)
  })
  // A terminal signals the whole process group. The server ends this process when it has stopped.
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => {})
  process.once("disconnect", () => process.exit(0))
  const send = (message: SpareMessage, then: () => void = () => {}) => process.send?.(message, then)
  process.once("message", ({ input }: { readonly input: never }) => {
    send({ _tag: "Started" })
    const failure = (error: Error & { readonly code?: string }): SpareMessage => ({
      _tag: "Failure",
      code: error.code,
      message: error.message
    })
    void answer(input)
      .then((result): SpareMessage => ({ _tag: "Result", result }), failure)
      .then((message) => send(message, () => process.exit(0)))
  })
}
