/** Mistakes with the dispatcher: its options, its requests, and where they go. */
import { describe, type DispatcherOptions, makeDispatcher } from "../../../../packages/dispatcher/src/promise.ts"
import { freePort } from "../../../support/freePort.ts"
import { fails, type Mistake } from "./Mistake.ts"

const make = (options: object) => makeDispatcher(options as DispatcherOptions)

const send = async (request: object, options: DispatcherOptions = {}) => {
  await using dispatcher = makeDispatcher(options)
  return dispatcher.send(request as Parameters<typeof dispatcher.send>[0])
}

const outcome = (title: string, url: () => Promise<string>, options: DispatcherOptions = {}): Mistake => ({
  title,
  see: async () => {
    const result = await send({ url: await url(), body: "{}" }, options)
    const reason =
      result._tag === "Failed" ? `reason ${result.reason}` : result._tag === "Blocked" ? `rule ${result.rule}` : ""
    return `${result._tag}, ${reason}: ${describe(result)}`
  }
})

const local: DispatcherOptions = { allowHttp: true, allowNetworks: ["127.0.0.0/8"] }

export const dispatcherMistakes: ReadonlyArray<Mistake> = [
  fails("A misspelled option", () => make({ deadLine: 10_000 })),
  fails("A misspelled option that opens a network", () => make({ allowNetwork: ["10.0.0.0/8"] })),
  fails("A network that is none", () => make({ allowNetworks: ["10.0"] })),
  fails("A network with an address inside of it", () => make({ allowNetworks: ["10.1.2.3/8"] })),
  fails("A network in place of a list", () => make({ allowNetworks: "10.0.0.0/8" })),
  fails("A deadline with a unit", () => make({ deadlineMs: "10s" })),
  fails("An object as the body", () => send({ url: "https://example.com/hook", body: { id: "evt_1" } })),
  fails("A request without a URL", () => send({ body: "{}" })),
  fails("A misspelled member of a request", () => send({ url: "https://example.com/hook", body: "", metod: "PUT" })),
  fails("A request after `close`", async () => {
    const dispatcher = makeDispatcher()
    await dispatcher.close()
    return dispatcher.send({ url: "https://example.com/hook", body: "{}" })
  }),
  outcome("A URL with `http`", async () => "http://example.com/hook"),
  outcome("A private address", async () => "https://192.168.1.20/hook"),
  outcome("A port that is closed", async () => `http://127.0.0.1:${await freePort()}/hook`, local)
]
