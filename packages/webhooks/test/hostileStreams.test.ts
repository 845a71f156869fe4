/**
 * Whatever other middleware or the client does to a request, each adapter comes to an end and the process goes on.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { assert, describe, it } from "vitest"

const program = join(import.meta.dirname, "support/hostileStreams.ts")

/** The status that each request gets, where all adapters agree. */
const answers: Readonly<Record<string, string>> = {
  "left alone": "204",
  "encoded as utf8": "204",
  "encoded as UTF-8, later": "204",
  "encoded as ascii": "500",
  "encoded as hex": "500",
  "half read": "500",
  "read by read()": "500",
  ended: "500",
  "read by another listener too": "500",
  paused: "204",
  "waited for by a reader that does not read": "204",
  "piped into something that is full": "500",
  "answered by another": "503"
}

const emulated: Readonly<Record<string, string>> = {
  "emulated request with bytes of another kind": "400",
  "emulated request with an array of numbers": "500",
  "emulated request with objects": "500",
  "emulated request with strings": "500",
  "emulated request with nothing": "400",
  "emulated request with an error": "400",
  "emulated request with an exception": "400",
  "emulated request with an error right before": "400",
  "emulated request with no end, and then it is destroyed": "400",
  "Fetch, a body left alone": "204",
  "Fetch, a body that breaks off": "400",
  "Fetch, a body that failed before": "400",
  "Fetch, a body of text": "204",
  "Fetch, a body that another reader holds": "500",
  "Fetch, a body half read": "500",
  "Fetch, a body read before": "500",
  "Fetch, a body canceled": "500"
}

describe.each(["listening", "not listening"])("A process that is %s for exceptions", (listening) => {
  it("gets an answer, or a closed connection, for every request, and no exception", async () => {
    const child = spawn(process.execPath, ["--conditions=source", program, listening], {
      stdio: ["ignore", "pipe", "pipe"]
    })
    const exit = once(child, "exit")
    const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)])
    const [code] = (await exit) as [number | null]
    const lines = output.trim().split("\n")
    assert.deepStrictEqual([errors, lines.pop(), code], ["", "done", 0], output)
    for (const line of lines) {
      const [, adapter, name, result] = /^(?:(node:http|Express .|Fastify .), )?(.+): (.+)$/.exec(line) ?? []
      const expected = (adapter === undefined ? emulated[name!] : answers[name!]) ?? "closed"
      assert.strictEqual(result, expected, line)
    }
    assert.isAbove(lines.length, 100)
  })
})
