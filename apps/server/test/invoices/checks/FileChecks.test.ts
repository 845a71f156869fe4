import { assert, describe, it } from "@effect/vitest"
import { Effect, References } from "effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll } from "vitest"
import * as FileChecks from "../../../src/invoices/checks/FileChecks.ts"

const folder = mkdtempSync(join(tmpdir(), "file-checks-"))
afterAll(() => rmSync(folder, { recursive: true }))

const file = (name: string, content: string): string => {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

describe("FileChecks", () => {
  it.live.each([
    ["ends", "<exit/>"],
    ["takes too long", "<hang/>"]
  ])("reports a document whose check %s, and checks the next one", ([_, xml]) =>
    Effect.gen(function* () {
      const checks = yield* FileChecks.make({
        entry: new URL("support/brokenThread.ts", import.meta.url),
        timeoutMs: 8000
      })
      const options = { today: "2026-11-22", environment: "demo" } as const
      const lost = yield* checks.check(file("lost.xml", xml!), options)
      assert.include(lost.error, "The document could not be checked: the check failed, or took over 5 s.")
      const valid = yield* checks.check(file("valid.xml", "<a/>"), options)
      assert.deepStrictEqual([valid.error, valid.count], [undefined, 0])
    }).pipe(Effect.provideService(References.MinimumLogLevel, "None"))
  )
})
