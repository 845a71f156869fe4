import { PGlite } from "@electric-sql/pglite"
import { assert, describe, it } from "@effect/vitest"
import fs from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, vi } from "vitest"
import { DurableNodeFS } from "../../src/database/DurableNodeFS.ts"

interface FileSystem {
  readonly open: (path: string, flags: number) => unknown
  readonly close: (stream: unknown) => void
  readonly mkdir: (path: string) => void
}

const mountedAt = "/pglite/data"
// As Emscripten numbers them.
const createNew = 0o100 | 0o200 | 2

describe("DurableNodeFS", () => {
  let directory: string
  let database: PGlite
  let files: FileSystem

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "govoice-files-"))
    database = await PGlite.create({ fs: new DurableNodeFS(directory, () => undefined) })
    files = database.Module.FS as FileSystem
  })

  afterAll(async () => {
    await database.close()
    await rm(directory, { recursive: true })
  })

  const assertFails = (path: string, flags: number) => assert.throws(() => files.open(`${mountedAt}/${path}`, flags))
  const make = (path: string) => files.close(files.open(`${mountedAt}/${path}`, createNew))

  it("a file that could not be made does not exist", () => {
    files.mkdir(`${mountedAt}/folder`)
    fs.rmdirSync(join(directory, "folder"))
    assertFails("folder/new", createNew)
    fs.mkdirSync(join(directory, "folder"))
    make("folder/new")
  })

  it("a new file that could not be opened does not exist", () => {
    const openSync = vi.spyOn(fs, "openSync").mockImplementationOnce(() => {
      throw Object.assign(new Error("EMFILE: too many open files"), { code: "EMFILE" })
    })
    assertFails("new", createNew)
    openSync.mockRestore()
    make("new")
  })

  it("files that could not be opened take no descriptor", () => {
    make("gone")
    fs.unlinkSync(join(directory, "gone"))
    for (let time = 0; time < 5000; time++) assertFails("gone", 0)
    make("other")
  })
})
