import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import * as core from "../src/index.ts"

const source = join(import.meta.dirname, "..", "src")
const modules = readdirSync(source).filter((file) => file !== "index.ts")

describe("@govoice/core", () => {
  it("exports every module under its own name", () => {
    assert.deepStrictEqual(Object.keys(core).sort(), modules.map((file) => file.replace(".ts", "")).sort())
  })

  it("has a test for every module", () => {
    const tests = readdirSync(import.meta.dirname)
    assert.deepStrictEqual(
      modules.filter((file) => !tests.includes(file.replace(".ts", ".test.ts"))),
      []
    )
  })

  it.each(modules)("%s: the module and each of its exports have a doc comment", (file) => {
    const text = readFileSync(join(source, file), "utf8")
    assert.match(text, /^\/\*\*\n \* [A-Z][^]*? \* @since \d+\.\d+\.\d+\n \*\//)

    const declarations = [
      ...text.matchAll(
        /(?<comment>\/\*\*(?:(?!\*\/)[^])*\*\/\n)?(?:\/\/ prettier-ignore\n)?^export (?:const|type|interface|class|function) (?<name>\w+)/gm
      )
    ]
    assert.isNotEmpty(declarations)
    for (const { groups } of declarations) {
      const { comment, name } = groups!
      assert.match(comment ?? "", /^ \* [A-Z`]/m, `${name} has no doc comment`)
      assert.match(comment ?? "", /^ \* @category [a-z]/m, `${name} has no category`)
      assert.match(comment ?? "", /^ \* @since \d/m, `${name} does not say since when`)
    }
  })
})
