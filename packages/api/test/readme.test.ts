import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Api } from "@govoice/api"
import * as Exports from "@govoice/api"
import { OpenApi } from "effect/http-api"

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8")

const readme = read("../README.md")

const blocks = Array.from(readme.matchAll(/```ts\n([^]*?)```/g), (match) => match[1]!)

describe("README", () => {
  it("contains the client that is compiled and run in tests", () => {
    assert.strictEqual(blocks[0], read("./readme/client.ts"))
  })

  it("contains the code that derives the OpenAPI document", () => {
    assert.strictEqual(blocks.length, 2)
    assert.include(blocks[1], "OpenApi.fromApi(Api)")
    assert.strictEqual(OpenApi.fromApi(Api).info.title, "Govoice API")
  })

  it("names exactly the exports of the package", () => {
    const table = readme.slice(readme.indexOf("## Modules"), readme.indexOf("This package declares"))
    const named = table
      .split("\n")
      .flatMap((row) => Array.from(row.split("|")[1]?.matchAll(/`(\w+)`/g) ?? [], (match) => match[1]!))
    assert.sameMembers(named, Object.keys(Exports))
  })
})
