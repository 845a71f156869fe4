import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Api } from "@govoice/api"
import * as Exports from "@govoice/api"
import { OpenApi } from "effect/http-api"

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8")

const readme = read("../README.md")

const blocks = Array.from(readme.matchAll(/```ts\n([^]*?)```/g), (match) => match[1]!)

describe("README", () => {
  it("shows the client that is compiled and run here", () => {
    assert.strictEqual(blocks[0], read("./readme/client.ts"))
  })

  it("derives the document as it is derived here", () => {
    assert.strictEqual(blocks.length, 2)
    assert.include(blocks[1], "OpenApi.fromApi(Api)")
    assert.strictEqual(OpenApi.fromApi(Api).info.title, "Govoice API")
  })

  it("names every export, and none that is not there", () => {
    const table = readme.slice(readme.indexOf("## What is where"), readme.indexOf("A server brings"))
    const named = table
      .split("\n")
      .flatMap((row) => Array.from(row.split("|")[1]?.matchAll(/`(\w+)`/g) ?? [], (match) => match[1]!))
    assert.sameMembers(named, Object.keys(Exports))
  })
})
