/** A quarantine process whose calls end it in several ways. */
import { serveCalls } from "../../../src/jobs/serveCalls.ts"

let calls = 0

interface Start {
  readonly greeting: string
  readonly fail?: boolean
  /** How long the start takes, in milliseconds. */
  readonly startsIn?: number
}

serveCalls(({ fail, greeting, startsIn = 0 }: Start) => {
  if (fail === true) throw new Error("no start")
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, startsIn)
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
