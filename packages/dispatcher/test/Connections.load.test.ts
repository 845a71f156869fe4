/** Connections and memory over many hosts. */
import { assert, it } from "vitest"
import { heldBytes } from "./support/memory.ts"
import { dispatcher, serveHttp, until } from "./support/servers.ts"

it("connections and memory are limited over 10,000 hosts", async () => {
  const receiver = await serveHttp()
  const { send } = dispatcher({ maxTargets: 50 })
  const sendTo = (index: number) => send({ url: `http://h${index}.test:${receiver.port}/`, body: "" })
  let host = 0
  const worker = async (last: number) => {
    while (host < last) assert.strictEqual((await sendTo(host++))._tag, "Delivered")
  }
  const drive = (last: number) => Promise.all(Array.from({ length: 20 }, () => worker(last)))
  await drive(1_000)
  ;(receiver.requests as Array<unknown>).length = 0
  const before = await heldBytes()
  await drive(10_000)
  ;(receiver.requests as Array<unknown>).length = 0
  await until(() => receiver.open <= 50)
  assert.isBelow((await heldBytes()) - before, 5_000_000)
})
