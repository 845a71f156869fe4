/**
 * Decision records: a number, one decision, the same four headings.
 */
import { globSync, readFileSync } from "node:fs"
import { basename, join, resolve } from "node:path"
import { assert, describe, it } from "vitest"

const folder = resolve(import.meta.dirname, "../../docs/decisions")
const files = globSync("*", { cwd: folder })
  .map((file) => basename(file))
  .sort()

describe("decision records", () => {
  it("are numbered without gaps", () => {
    assert.deepStrictEqual(
      files.map((file) => file.slice(0, 5)),
      files.map((_, index) => `${String(index + 1).padStart(4, "0")}-`)
    )
  })

  it.each(files)("%s has its number in the title, a date, and the four headings", (file) => {
    const text = readFileSync(join(folder, file), "utf8")
    assert.match(text, new RegExp(`^# ${file.slice(0, 4)}\\. \\S[^\\n]*\\n\\nDate: \\d{4}-\\d\\d-\\d\\d\\. Status: `))
    assert.deepStrictEqual(
      Array.from(text.matchAll(/^## (.*)$/gm), ([, heading]) => heading),
      ["Context", "Decision", "Consequences", "Measured"]
    )
  })
})
