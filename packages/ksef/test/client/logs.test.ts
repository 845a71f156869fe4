import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { TestClock } from "effect/testing"
import { makeWarningLog } from "../../src/client/warnings.ts"
import { recordLogs, serveHttp, withClient } from "../support/servers.ts"

type Logs = Parameters<typeof recordLogs>[0]

const recorded = <E>(run: (log: ReturnType<typeof makeWarningLog>) => Effect.Effect<void, E>) =>
  Effect.gen(function* () {
    const logs: Logs = []
    yield* run(makeWarningLog()).pipe(Effect.provide(recordLogs(logs)))
    return logs.map(({ text }) => /message="?(?<text>[^"]*?)"?(?= message| code| call|$)/.exec(text)?.[0] ?? text)
  })

describe("system warnings of KSeF", () => {
  it.effect("are logged once for each text and day", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(Date.parse("2026-11-20T23:00:00Z"))
      const lines = yield* recorded((log) =>
        Effect.gen(function* () {
          for (let call = 0; call < 10; call++) yield* log("send", "[sig-001]: Podpis | [x]: y")
          yield* log("send", "[sig-001]: Inny podpis")
          yield* TestClock.adjust("1 hour")
          yield* log("send", "[x]: y")
          yield* log("send", undefined)
          yield* log("send", "")
        })
      )
      assert.strictEqual(lines.length, 4)
    })
  )

  it("are logged with the call and the code, as warnings", async () => {
    const server = await serveHttp((response) =>
      response.writeHead(400, { "x-system-warning": "[sig-001]: Podpis nie spelnia profilu" }).end()
    )
    const { logs } = await withClient({ url: `http://127.0.0.1:${server.port}/v2` }, (client) =>
      Effect.ignore(client.publicKeys)
    )
    const [warning, second] = logs.filter(({ level }) => level === "Warn")
    assert.isUndefined(second)
    assert.match(warning?.text ?? "", /KSeF sent a system warning/)
    assert.match(warning?.text ?? "", /code=sig-001/)
    assert.match(warning?.text ?? "", /call=publicKeys/)
    assert.match(warning?.text ?? "", /Podpis nie spelnia profilu/)
  })
})

describe("calls to KSeF", () => {
  it("are logged with their path template, status, codes, trace id and duration", async () => {
    const server = await serveHttp((response) =>
      response
        .writeHead(400)
        .end(JSON.stringify({ title: "x", detail: "y", traceId: "t-1", errors: [{ code: 21173 }] }))
    )
    const accessToken = Redacted.make("x")
    const { logs } = await withClient({ url: `http://127.0.0.1:${server.port}/v2` }, (client) =>
      Effect.ignore(client.sessionStatus({ accessToken, session: "20250625-SO-2C3E6C8000-B675CF5D68-07" }))
    )
    assert.strictEqual(logs.length, 1)
    const { level, text } = logs[0]!
    assert.strictEqual(level, "Debug")
    for (const part of ["sessionStatus", "/sessions/{referenceNumber}", "status=400", "21173", "t-1", "durationMs="]) {
      assert.include(text, part)
    }
  })
})
