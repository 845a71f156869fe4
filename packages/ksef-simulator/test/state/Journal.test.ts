import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, assert, beforeEach, describe, it } from "vitest"
import { type JournalRecord, openJournal } from "../../src/state/Journal.ts"

let folder = ""
let path = ""
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "journal-"))
  path = join(folder, "state")
})
afterEach(() => rmSync(folder, { recursive: true }))

const reopen = (): ReadonlyArray<JournalRecord> => {
  let read: ReadonlyArray<JournalRecord> = []
  openJournal(path, (records) => (read = records)).close()
  return read
}

describe("Journal", () => {
  it("returns the appended entries in their order", () => {
    const journal = openJournal(path, () => [])
    journal.append("a", "1", { text: "ż\n" })
    journal.append("a", "1", null)
    journal.close()
    const expected: ReadonlyArray<JournalRecord> = [
      ["a", "1", { text: "ż\n" }],
      ["a", "1", null]
    ]
    assert.deepStrictEqual(reopen(), expected)
    assert.deepStrictEqual(reopen(), expected)
  })

  it("keeps flushed entries over the end of the process, and drops an incomplete last line", () => {
    const journal = openJournal(path, () => [])
    journal.append("a", "1", 1)
    journal.flush()
    journal.append("a", "2", 2)
    assert.include(readFileSync(path, "utf8"), '["a","1",1]')
    assert.notInclude(readFileSync(path, "utf8"), '["a","2",2]')
    journal.close()
    appendFileSync(path, '["a","3"')
    assert.deepStrictEqual(reopen(), [
      ["a", "1", 1],
      ["a", "2", 2]
    ])
  })

  it("is replaced by the entries that its reader returns", () => {
    const journal = openJournal(path, () => [])
    for (let number = 0; number < 5000; number++) journal.append("a", "1", number)
    journal.close()
    openJournal(path, (records) => records.slice(-1)).close()
    assert.deepStrictEqual(reopen(), [["a", "1", 4999]])
    assert.isBelow(readFileSync(path).length, 100)
  })

  it("refuses a file of another format, and does not change it", () => {
    writeFileSync(path, "precious\nmore\n")
    assert.throws(() => reopen(), `Expected a state file of the KSeF simulator at ${path}.`)
    assert.strictEqual(readFileSync(path, "utf8"), "precious\nmore\n")
    assert.isFalse(existsSync(`${path}.lock`))
  })

  it("refuses a file that is damaged in the middle, and names the line", () => {
    const journal = openJournal(path, () => [["a", "1", 1]])
    journal.close()
    writeFileSync(path, readFileSync(path, "utf8").replace('"a"', "a"))
    assert.throws(() => reopen(), `Expected JSON in line 2 of ${path}.`)
  })

  it("refuses a file that a running process uses, and accepts one of a process that has ended", () => {
    const journal = openJournal(path, () => [])
    assert.throws(() => reopen(), `The state file ${path} is in use by process ${process.pid}.`)
    journal.close()
    writeFileSync(`${path}.lock`, "999999999")
    assert.deepStrictEqual(reopen(), [])
  })
})
