import { ConfigProvider, Effect, Layer, Stdio } from "effect"
import { TerminalCapabilities } from "effect/cli"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { afterAll, assert, describe, it } from "vitest"
import * as preparedHelp from "../../src/commands/preparedHelp.ts"

const folder = mkdtempSync(join(tmpdir(), "prepared-help-"))
afterAll(() => rmSync(folder, { recursive: true }))

const path = join(folder, preparedHelp.fileName)
writeFileSync(path, JSON.stringify({ "": "all", serve: "\u001b[1mone\u001b[0m", "account create": "two" }))
const file = pathToFileURL(path)

describe("prepared help", () => {
  it("is found by the names before --help or -h", () => {
    assert.strictEqual(preparedHelp.find(["--help"], file), "all")
    assert.strictEqual(preparedHelp.find(["account", "create", "-h"], file), "two")
  })

  it("is not found for other arguments, and not without the file", () => {
    for (const args of [
      [],
      ["serve"],
      ["--help", "serve"],
      ["--help", "--help"],
      ["other", "--help"],
      ["toString", "-h"]
    ])
      assert.isUndefined(preparedHelp.find(args, file), args.join(" "))
    assert.isUndefined(preparedHelp.find(["--help"], new URL("missing.json", file)))
  })

  it("is printed with colors where they are shown", () => {
    const printed: Array<string> = []
    const output = { isTTY: true, write: (text: string) => printed.push(text) > 0 } as NodeJS.WriteStream
    for (const env of [{}, { NO_COLOR: "1" }]) preparedHelp.print(["serve", "-h"], { env, file, output })
    assert.deepStrictEqual(printed, ["\u001b[1mone\u001b[0m\n", "one\n"])
  })

  it("has colors by the rule of Effect", async () => {
    const capabilities = (env: Record<string, string>, stdoutIsTerminal: boolean) =>
      Effect.runPromise(
        TerminalCapabilities.TerminalCapabilities.pipe(
          Effect.provide(TerminalCapabilities.layer),
          Effect.provide(
            Layer.merge(
              Stdio.layerTest({ stdoutIsTerminal: Effect.succeed(stdoutIsTerminal) }),
              ConfigProvider.layer(ConfigProvider.fromEnv({ env }))
            )
          )
        )
      )
    const values = [undefined, "", "0", "1", "False"]
    for (const isTTY of [true, false])
      for (const NO_COLOR of values)
        for (const FORCE_COLOR of values)
          for (const TERM of [undefined, "dumb", "xterm"]) {
            const env = JSON.parse(JSON.stringify({ NO_COLOR, FORCE_COLOR, TERM })) as Record<string, string>
            const { canColor } = await capabilities(env, isTTY)
            assert.strictEqual(preparedHelp.printsColors(env, { isTTY }), canColor, JSON.stringify({ isTTY, ...env }))
          }
  })
})
