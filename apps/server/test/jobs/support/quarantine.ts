/** A quarantine process whose calls end it in several ways. */
import { serveCalls } from "../../../src/jobs/serveCalls.ts"

let calls = 0

serveCalls(({ fail, greeting }: { readonly greeting: string; readonly fail?: boolean }) => {
  if (fail === true) throw new Error("no start")
  return {
    greet: (name: string) => Promise.resolve({ text: `${greeting} ${name}`, calls: (calls += 1), pid: process.pid }),
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
})
