/**
 * Ends its process when it connects to the port `POISON_PORT`.
 *
 * `POISON_BY` is `signal` or `exception`.
 */
import { Socket } from "node:net"

const port = Number(process.env["POISON_PORT"])

const end = (): void => {
  if (process.env["POISON_BY"] === "signal") process.kill(process.pid, "SIGKILL")
  setImmediate(() => {
    throw new Error("poisoned")
  })
}

/** Puts a function in the place of a method, which runs before it. */
const before = (target: object, method: string, run: (given: ReadonlyArray<unknown>) => void): void => {
  const original = Reflect.get(target, method) as (...given: Array<unknown>) => unknown
  Reflect.set(target, method, function (this: unknown, ...given: Array<unknown>) {
    run(given)
    return Reflect.apply(original, this, given)
  })
}

before(Socket.prototype, "connect", (given) => {
  const options = given.flat().find((one) => typeof one === "object" && one !== null && "port" in one)
  if (options !== undefined && Number((options as { readonly port: unknown }).port) === port) end()
})
