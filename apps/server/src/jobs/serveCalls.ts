/** The other end of `QuarantineProcess`: answers calls in the child process. */
import type { QuarantineMessage, QuarantineCall } from "./QuarantineProcess.ts"

type Methods = Readonly<Record<string, (argument: never) => Promise<unknown>>>

const failure = (error: unknown): QuarantineMessage => ({
  _tag: "Failure",
  code: error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined,
  message: error instanceof Error ? error.message : String(error)
})

const answer = async (
  methods: Methods | undefined,
  { argument, method }: QuarantineCall
): Promise<QuarantineMessage> => {
  try {
    return { _tag: "Result", result: await methods?.[method]?.(argument as never) }
  } catch (error) {
    return failure(error)
  }
}

/** Answers the calls of the server process until that process ends. `make` gets the start message. */
export const serveCalls = (make: (start: never) => Methods): void => {
  let methods: Methods | undefined
  // One line, which the server logs.
  process.once("uncaughtException", (error: unknown) => {
    process.stderr.write(`${String(error)}\n`)
    process.exit(1)
  })
  // A terminal signals the whole process group. The server ends this process when it has stopped.
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => {})
  process.once("disconnect", () => process.exit(0))
  process.on("message", (message: { readonly start: unknown } | QuarantineCall) => {
    if ("start" in message) {
      methods = make(message.start as never)
      process.send?.({ _tag: "Started" } satisfies QuarantineMessage)
    } else void answer(methods, message).then((result) => process.send?.(result))
  })
}
