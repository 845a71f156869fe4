/** Checks that every failure code that the server writes has its line in the guide of live mode. */
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { failures } from "../../docs/liveCodes.ts"

const root = join(import.meta.dirname, "../..")

const written = (folder: string): ReadonlyArray<string> =>
  globSync(`${folder}/**/*.ts`, { cwd: root }).flatMap((file) =>
    Array.from(
      readFileSync(join(root, file), "utf8").matchAll(/"(gateway_(?!credential")[a-z_]+)"/g),
      ([, code]) => code!
    )
  )

describe("the codes of live mode", () => {
  it("have a line each in docs/liveCodes.ts", () => {
    const codes = new Set([...written("apps/server/src"), ...written("packages/core/src")])
    assert.include([...codes], "gateway_unavailable")
    assert.deepStrictEqual(
      [...codes].filter((code) => !Object.hasOwn(failures, code)),
      []
    )
  })
})
