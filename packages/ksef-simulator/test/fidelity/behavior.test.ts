/**
 * The table of the guide: each behavior that the OpenAPI document does not state has a source, and a test that exists.
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"

const guide = join(import.meta.dirname, "../../../../docs/guides/simulating-ksef.md")
const [, section = ""] = readFileSync(guide, "utf8").split("## What the OpenAPI document does not state")

const rows = (section.split("\n## ")[0] ?? "")
  .split("\n")
  .filter((line) => line.startsWith("|"))
  .slice(2)
  .map((line) => line.slice(1, -1).split("|"))
  .map((cells) => cells.map((cell) => cell.trim()))

/** A title as sources have it: a parameter in place of an ellipsis, and no marks of code. */
const isTitleIn = (source: string, title: string): boolean =>
  source.includes(`"${title.replace("…", "%s").replaceAll("`", "")}"`)

describe("the behavior that the guide lists", () => {
  it("has a source and a test in each row, and no row twice", () => {
    assert.isAbove(rows.length, 40)
    for (const cells of rows) assert.lengthOf(cells.filter(Boolean), 3, cells.join("|"))
    assert.lengthOf(new Set(rows.map(([behavior]) => behavior)), rows.length)
  })

  it.each(rows.map(([behavior = "", , test = ""]) => [behavior, test] as const))("%s: its test exists", (_, test) => {
    const [, title = "", path = ""] = /^\[(.+)\]\((.+)\)$/.exec(test) ?? []
    const source = readFileSync(join(guide, "..", path), "utf8")
    assert.isTrue(isTitleIn(source, title), `${path} has no test with the title "${title}"`)
  })
})
