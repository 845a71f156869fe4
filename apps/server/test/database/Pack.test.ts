import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import * as Pack from "../../src/database/prepared/Pack.ts"

const files: Pack.Files = {
  directories: ["base", "base/1"],
  files: new Map([
    ["PG_VERSION", Buffer.from("18\n")],
    ["base/1/empty", new Uint8Array(0)],
    ["base/1/1255", Uint8Array.from({ length: 8192 }, (_, index) => (index * index) % 251)]
  ])
}

const contentsOf = (pack: Result.Result<Pack.Files, Pack.UnusablePack>) => {
  const { directories, files } = Result.getOrThrow(pack)
  return { directories, files: [...files].map(([path, data]) => [path, Buffer.from(data).toString("latin1")]) }
}

const messageOf = (pack: Result.Result<Pack.Files, Pack.UnusablePack>): string =>
  Result.isFailure(pack) ? pack.failure.message : ""

describe("Pack", () => {
  it("unpacks the directories and files that were packed, in their order", () => {
    assert.deepStrictEqual(
      contentsOf(Pack.decode("0.5.16", Pack.encode("0.5.16", files))),
      contentsOf(Result.succeed(files))
    )
  })

  it("refuses a pack of another PGlite, and names both versions", () => {
    assert.strictEqual(
      messageOf(Pack.decode("0.6.0", Pack.encode("0.5.16", files))),
      "it is for PGlite 0.5.16, and this is 0.6.0"
    )
  })

  it("refuses a pack that was cut off or changed anywhere", () => {
    const pack = Pack.encode("0.5.16", files)
    for (let length = 0; length < pack.length; length++) {
      assert.strictEqual(messageOf(Pack.decode("0.5.16", pack.subarray(0, length))), "it is damaged", `${length} bytes`)
    }
    for (let offset = 0; offset < pack.length; offset++) {
      const changed = Uint8Array.from(pack)
      changed[offset]! ^= 0x10
      const unpacked = Pack.decode("0.5.16", changed)
      // A bit of the frame's header may mean nothing: what is unpacked is what was packed.
      if (Result.isSuccess(unpacked)) assert.deepStrictEqual(contentsOf(unpacked), contentsOf(Result.succeed(files)))
      else assert.strictEqual(unpacked.failure.message, "it is damaged", `byte ${offset}`)
    }
  })
})
