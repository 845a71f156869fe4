/** A spare process whose call ends it in several ways. */
import { serveCall } from "../../../src/jobs/SpareProcess.ts"

const calls: Readonly<Record<string, (argument: string) => Promise<unknown>>> = {
  greet: (name) => Promise.resolve({ text: `Hello ${name}`, pid: process.pid }),
  throw: () => Promise.reject(Object.assign(new Error("refused"), { code: "invalid_request" })),
  exit: () => process.exit(7),
  kill: () => {
    process.kill(process.pid, "SIGKILL")
    return new Promise(() => {})
  },
  uncaught: () => {
    setImmediate(() => {
      throw new Error("uncaught")
    })
    return new Promise(() => {})
  },
  block: () => {
    while (true);
  },
  heap: () => {
    const held: Array<unknown> = []
    while (true) held.push(Array.from({ length: 1000 }, (_, index) => ({ index })))
  },
  environment: () => Promise.resolve(Object.keys(process.env))
}

serveCall(({ argument = "", method }: { readonly method: string; readonly argument?: string }) =>
  calls[method]!(argument)
)
