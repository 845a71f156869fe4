import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { Dispatcher } from "undici"
import { heldBytes } from "../../../dispatcher/test/support/memory.ts"
import type { Connections } from "../../src/client/connections.ts"
import { exchange } from "../../src/client/exchange.ts"

it("keeps a body that comes in single bytes in the memory of its bytes", async () => {
  let handler: Dispatcher.DispatchHandler | undefined
  // The cast: an exchange takes one connection and gives it back, and calls nothing else of them.
  const connections = {
    take: () => ({ dispatch: (_options: unknown, given: Dispatcher.DispatchHandler) => (handler = given) }),
    giveBack: () => {}
  } as unknown as Connections
  const length = 300_000
  const answer = Effect.runPromise(
    exchange(connections, {
      method: "GET",
      url: new URL("https://ksef.test/"),
      headers: {},
      maxBytes: 1 << 20,
      timeoutMs: 50_000
    })
  )
  const controller = {} as Dispatcher.DispatchController
  const before = await heldBytes()
  handler!.onResponseStart!(controller, 200, {}, "OK")
  for (let at = 0; at < length; at++) handler!.onResponseData!(controller, Buffer.from([at % 251]))
  assert.isBelow((await heldBytes()) - before, 10 * length)
  handler!.onResponseEnd!(controller, {})
  const { body } = await answer
  assert.deepEqual(body, Buffer.from(Array.from({ length }, (_, at) => at % 251)))
})
