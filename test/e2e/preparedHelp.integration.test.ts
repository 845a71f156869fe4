/**
 * The help that the build prepares is the help that the command prints. With colors, the suite compares that of `govoice` alone, and
 * the long tests (`HELPS=all`) that of every command.
 */
import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { promisify } from "node:util"
import { assert, describe, it } from "vitest"
import { fileName } from "../../apps/server/src/commands/preparedHelp.ts"
import { builtCommand } from "./support/build.ts"

const print = async (args: ReadonlyArray<string>, env: Readonly<Record<string, string>>): Promise<string> =>
  (await promisify(execFile)(process.execPath, [await builtCommand(), ...args], { env })).stdout

const isEvery = process.env["HELPS"] === "all"

const subcommandsIn = (help: string): ReadonlyArray<string> =>
  [...(/^SUBCOMMANDS\n(?: .*\n)+/m.exec(help)?.[0] ?? "").matchAll(/^ {2}([\w-]+)/gm)].map(([, name]) => name!)

describe("the prepared help", () => {
  it("is that of the command, with colors and without", async () => {
    const file = join(dirname(await builtCommand()), fileName)
    const prepared = JSON.parse(readFileSync(file, "utf8")) as Readonly<Record<string, string>>
    const missing = new Set(Object.keys(prepared))
    const names: Array<ReadonlyArray<string>> = [[]]
    for (const command of names) {
      // With the flag first, the command itself prints its help.
      const help = await print(["--help", ...command], {})
      assert.strictEqual(await print([...command, "--help"], {}), help)
      if (isEvery || command.length === 0) {
        const colors = { FORCE_COLOR: "1" }
        assert.strictEqual(await print([...command, "-h"], colors), await print(["--help", ...command], colors))
      }
      assert.isTrue(missing.delete(command.join(" ")), `no help is prepared for: ${command.join(" ")}`)
      names.push(...subcommandsIn(help).map((name) => [...command, name]))
    }
    assert.deepStrictEqual([...missing], [])
    assert.isAbove(names.length, 10)
  })
})
