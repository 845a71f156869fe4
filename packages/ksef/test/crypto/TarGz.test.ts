import { gunzipSync, gzipSync } from "node:zlib"
import { assert, describe, it } from "@effect/vitest"
import { TarGz } from "@govoice/ksef/crypto"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as fc from "fast-check"

const limits: TarGz.Limits = { maxDocuments: 100, maxDocumentBytes: 1_000_000, maxBytes: 10_000_000 }

const packed = async (documents: ReadonlyArray<TarGz.Document>): Promise<Buffer> =>
  Buffer.concat(await Effect.runPromise(Stream.runCollect(TarGz.pack(Stream.fromIterable(documents)))))

const unpacked = (archive: Iterable<Uint8Array>, bounds: Partial<TarGz.Limits> = {}) =>
  Effect.runPromise(Stream.runCollect(TarGz.unpack(archive, { ...limits, ...bounds })))

const reason = (archive: Iterable<Uint8Array>, bounds: Partial<TarGz.Limits> = {}) =>
  Effect.runPromise(
    Stream.runCollect(TarGz.unpack(archive, { ...limits, ...bounds })).pipe(
      Effect.as("read"),
      Effect.catchTag("ArchiveError", (error) => Effect.succeed(error.reason))
    )
  )

const document = (name: string, text: string): TarGz.Document => ({ name, bytes: Buffer.from(text) })

/** A block of a USTAR header, by the field offsets of POSIX.1-2017. */
const header = (name: string, size: number, type: string): Buffer => {
  const block = Buffer.alloc(512)
  block.write(name, 0)
  block.write("0000644\0", 100)
  block.write("0000000\0", 108)
  block.write("0000000\0", 116)
  block.write(`${size.toString(8).padStart(11, "0")}\0`, 124)
  block.write("00000000000\0", 136)
  block.write("        ", 148)
  block.write(type, 156)
  block.write("ustar\x0000", 257)
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148)
  return block
}

const body = (text: string) => Buffer.concat([Buffer.from(text), Buffer.alloc((512 - (text.length % 512)) % 512)])

const end = Buffer.alloc(1024)

const name = fc.stringMatching(/^[a-z0-9_]{1,120}\.xml$/)
const documents = fc.uniqueArray(fc.record({ name, bytes: fc.uint8Array({ maxLength: 2000, size: "max" }) }), {
  selector: (document) => document.name,
  maxLength: 20
})

describe("TarGz", () => {
  it("reads the documents that it packed, however the archive is cut into chunks", async () => {
    await fc.assert(
      fc.asyncProperty(documents, fc.integer({ min: 1, max: 700 }), async (given, size) => {
        const archive = await packed(given)
        const chunks = Array.from({ length: Math.ceil(archive.length / size) }, (_, index) =>
          archive.subarray(index * size, (index + 1) * size)
        )
        const read = await unpacked(chunks)
        assert.deepStrictEqual(
          read.map(({ bytes, name }) => ({ name, bytes: new Uint8Array(bytes) })),
          given.map(({ bytes, name }) => ({ name, bytes }))
        )
      }),
      { numRuns: 50 }
    )
  })

  it("packs the format that tar reads: one header each, whole blocks, two empty ones at the end", async () => {
    const tar = gunzipSync(await packed([document("inv_1.xml", "<a/>"), document("inv_2.xml", "x".repeat(512))]))
    assert.strictEqual(tar.length % 512, 0)
    assert.strictEqual(tar.toString("latin1", 0, 9), "inv_1.xml")
    assert.strictEqual(Number.parseInt(tar.toString("latin1", 124, 135), 8), 4)
    assert.strictEqual(tar.toString("latin1", 257, 262), "ustar")
    const summed = Buffer.from(tar.subarray(0, 512)).fill(" ", 148, 156)
    assert.strictEqual(
      Number.parseInt(tar.toString("latin1", 148, 154), 8),
      summed.reduce((total, byte) => total + byte, 0)
    )
    assert.strictEqual(tar.toString("latin1", 512, 516), "<a/>")
    assert.strictEqual(tar.toString("latin1", 1024, 1033), "inv_2.xml")
    assert.deepStrictEqual(tar.subarray(2048), end)
  })

  it("packs the same documents into the same bytes", async () => {
    const given = [document("a.xml", "<a/>"), document("b.xml", "<b/>")]
    assert.deepStrictEqual(await packed(given), await packed(given))
  })

  it("fails with the error of the documents", async () => {
    const documents = Stream.concat(Stream.make(document("a.xml", "<a/>")), Stream.fail(new Error("no more")))
    const error = await Effect.runPromise(Effect.flip(Stream.runCollect(TarGz.pack(documents))))
    assert.strictEqual(error.message, "no more")
  })

  it("reads an archive that another program wrote, and skips directories", async () => {
    const tar = Buffer.concat([
      header("invoices/", 0, "5"),
      header("invoices/a.xml", 4, "0"),
      body("<a/>"),
      header("b.xml", 4, "\0"),
      body("<b/>"),
      end
    ])
    assert.deepStrictEqual(await unpacked([gzipSync(tar)]), [
      document("invoices/a.xml", "<a/>"),
      document("b.xml", "<b/>")
    ])
  })

  it("reads gzip members one after the other as one archive", async () => {
    const tar = Buffer.concat([header("a.xml", 4, "0"), body("<a/>"), end])
    const archive = Buffer.concat([gzipSync(tar.subarray(0, 700)), gzipSync(tar.subarray(700))])
    assert.deepStrictEqual(await unpacked([archive]), [document("a.xml", "<a/>")])
  })

  it.each([
    ["a symbolic link", "2"],
    ["a hard link", "1"],
    ["a device", "3"],
    ["a FIFO", "6"]
  ])("refuses an archive with %s", async (_, type) => {
    assert.strictEqual(await reason([gzipSync(Buffer.concat([header("a", 0, type), end]))]), "unsupported-entry")
  })

  it("refuses an archive that is no gzip, damaged, or no tar", async () => {
    const archive = await packed([document("a.xml", "x".repeat(5000))])
    const damaged = Buffer.from(archive)
    damaged[damaged.length - 6]! ^= 1
    assert.strictEqual(await reason([Buffer.from("PK\x03\x04 a ZIP archive")]), "not-gzip")
    assert.strictEqual(await reason([damaged]), "not-gzip")
    assert.strictEqual(await reason([gzipSync(Buffer.alloc(1024, "x"))]), "not-tar")
    assert.strictEqual(await reason([gzipSync(Buffer.from("<a/>"))]), "truncated")
  })

  it("refuses an archive that is cut off after any byte", async () => {
    const archive = await packed([document("a.xml", "<a/>"), document("b.xml", "<b/>")])
    for (let length = 1; length < archive.length; length++) {
      assert.strictEqual(await reason([archive.subarray(0, length)]), "truncated", `after ${length} bytes`)
    }
    assert.notStrictEqual(await reason([]), "read")
  })

  it("reads an archive exactly at each limit, and refuses an archive beyond one", async () => {
    const archive = await packed([document("a.xml", "12345"), document("b.xml", "67890")])
    const { length } = gunzipSync(archive)
    assert.strictEqual(await reason([archive], { maxDocuments: 2, maxDocumentBytes: 5, maxBytes: length }), "read")
    assert.strictEqual(await reason([archive], { maxDocuments: 1 }), "too-many-documents")
    assert.strictEqual(await reason([archive], { maxDocumentBytes: 4 }), "document-too-large")
    assert.strictEqual(await reason([archive], { maxBytes: length - 1 }), "archive-too-large")
  })

  it("stops inflating a small archive of 1 GiB at its limit", async () => {
    const block = Buffer.alloc(1 << 20)
    const zeros = gzipSync(block)
    const huge = Buffer.concat([gzipSync(header("a.xml", 1 << 30, "0")), ...Array<Buffer>(1024).fill(zeros)])
    const before = process.memoryUsage().rss
    assert.strictEqual(await reason([huge], { maxDocumentBytes: 2 ** 31 }), "archive-too-large")
    assert.isBelow(process.memoryUsage().rss - before, 200 << 20)
  })

  it("reads an archive of 10,000 documents", async () => {
    const given = Array.from({ length: 10_000 }, (_, index) =>
      document(`inv_${index}.xml`, `<a>${index}</a>`.repeat(100))
    )
    const read = await unpacked([await packed(given)], { maxDocuments: 10_000, maxBytes: 1 << 30 })
    assert.strictEqual(read.length, 10_000)
    assert.deepStrictEqual(read.at(-1), given.at(-1))
  })
})
