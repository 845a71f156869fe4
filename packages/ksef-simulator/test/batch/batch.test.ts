import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { TarGz } from "@govoice/ksef/crypto"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { assert, describe, it } from "vitest"
import { type Answer, Client, codes, encrypt, fa3Form, sha256, type SessionSecret } from "../support/Client.ts"
import { fa3 } from "../support/invoices.ts"
import { manualTime, start } from "../support/simulator.ts"
import { zip } from "../support/zip.ts"

interface Batch extends SessionSecret {
  readonly reference: string
  readonly opened: Answer
}

const documents = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    name: `invoice-${index + 1}.xml`,
    bytes: Buffer.from(fa3({ number: `B/${index + 1}` }))
  }))

const tarGz = async (files: ReturnType<typeof documents>): Promise<Buffer> =>
  Buffer.concat(await Effect.runPromise(Stream.runCollect(TarGz.pack(Stream.fromIterable(files)))))

const upload = async (
  client: Client,
  archive: Buffer,
  {
    changes = {},
    compressionType = "TarGz",
    partChanges = {},
    parts = 1
  }: {
    readonly compressionType?: string
    readonly parts?: number
    readonly changes?: object
    readonly partChanges?: object
  } = {}
): Promise<Batch> => {
  const { body, secret } = await client.encryption()
  const size = Math.ceil(archive.length / parts)
  const encrypted = Array.from({ length: parts }, (_, index) =>
    encrypt(secret, archive.subarray(index * size, (index + 1) * size))
  )
  const opened = await client.call("POST", "/sessions/batch", {
    body: {
      formCode: fa3Form,
      encryption: body,
      batchFile: {
        fileSize: archive.length,
        fileHash: sha256(archive),
        compressionType,
        fileParts: encrypted.map((part, index) => ({
          ordinalNumber: index + 1,
          fileSize: part.length,
          fileHash: sha256(part),
          ...partChanges
        })),
        ...changes
      }
    }
  })
  for (const { headers, method, ordinalNumber, url } of opened.json.partUploadRequests ?? []) {
    const answer = await fetch(url, { method, headers, body: encrypted[ordinalNumber - 1]! })
    assert.strictEqual(answer.status, 201)
  }
  return { ...secret, reference: opened.json.referenceNumber, opened }
}

const finish = async (client: Client, batch: Batch) => {
  const closed = await client.close(batch, "batch")
  assert.strictEqual(closed.status, 204, closed.text)
  return client.sessionStatus(batch.reference)
}

describe("a batch", () => {
  it.each([
    ["tar.gz", "TarGz", 1],
    ["tar.gz in three parts", "TarGz", 3],
    ["ZIP", "Zip", 1],
    ["ZIP in two parts", "Zip", 2]
  ])("as %s is read, judged and confirmed", async (_, compressionType, parts) => {
    const simulator = await start()
    const client = await Client.login(simulator)
    const files = documents(12)
    const archive = compressionType === "Zip" ? zip(files) : await tarGz(files)
    const batch = await upload(client, archive, { compressionType, parts })
    const status = await finish(client, batch)
    assert.deepInclude(status, { invoiceCount: 12, successfulInvoiceCount: 12, failedInvoiceCount: null })
    const first = (await client.call("GET", `/sessions/${batch.reference}/invoices?pageSize=10`)).json
    const token = { "x-continuation-token": first.continuationToken! }
    const second = (await client.call("GET", `/sessions/${batch.reference}/invoices?pageSize=10`, { headers: token }))
      .json
    const listed = [...first.invoices, ...second.invoices]
    assert.deepStrictEqual(
      listed.map(({ invoiceFileName, invoiceHash }) => [invoiceFileName, invoiceHash]),
      files.map(({ bytes, name }) => [name, sha256(bytes)])
    )
    const upo = await fetch(status.upo!.pages[0]!.downloadUrl)
    assert.strictEqual(upo.headers.get("x-ms-meta-hash"), sha256(Buffer.from(await upo.clone().arrayBuffer())))
    assert.lengthOf((await upo.text()).match(/<Dokument>/g) ?? [], 12)
  })

  it("is in processing for as many responses as a document of it stays at 150", async () => {
    const simulator = await start()
    const client = await Client.login(simulator)
    simulator.faults.add({ do: "stuck-150", polls: 2 })
    const batch = await upload(client, await tarGz(documents(2)))
    assert.strictEqual((await client.close(batch, "batch")).status, 204)
    await simulator.idle()
    const seen: Array<number> = []
    for (let poll = 0; poll < 4; poll++) {
      seen.push((await client.call("GET", `/sessions/${batch.reference}`)).json.status.code)
    }
    assert.deepStrictEqual(seen, [150, 150, 200, 200])
  })

  it("counts as received when it was opened, and has its valid documents accepted beside invalid ones", async () => {
    const simulator = await start()
    const client = await Client.login(simulator)
    const files = [...documents(2), { name: "bad.xml", bytes: Buffer.from("<x/>") }]
    const batch = await upload(client, await tarGz(files))
    const status = await finish(client, batch)
    assert.deepInclude(status, { invoiceCount: 3, successfulInvoiceCount: 2, failedInvoiceCount: 1 })
    const failed = (await client.call("GET", `/sessions/${batch.reference}/invoices/failed`)).json.invoices
    assert.deepStrictEqual(
      failed.map(({ invoiceFileName, invoicingDate, status: { code } }) => [invoiceFileName, invoicingDate, code]),
      [["bad.xml", status.upo === undefined ? "" : failed[0]!.invoicingDate, 450]]
    )
  })

  it("accepts an attachment if the context may send attachments", async () => {
    const simulator = await start()
    const client = await Client.login(simulator)
    const file = [{ name: "a.xml", bytes: Buffer.from(fa3({ attachment: true })) }]
    const refused = await upload(client, await tarGz(file))
    assert.strictEqual((await finish(client, refused)).status.code, 445)
    await client.call("POST", "/testdata/attachment", { body: { nip: simulator.nip } })
    const taken = await upload(client, await tarGz(file))
    assert.strictEqual((await finish(client, taken)).status.code, 200)
  })

  it.each([
    ["a part has another hash", { partChanges: { fileHash: sha256("x") } }, 405],
    ["the archive has another hash", { changes: { fileHash: sha256("x") } }, 405],
    ["it is no archive of its kind", { compressionType: "Zip" }, 430]
  ])("ends as a whole if %s", async (_, changes, code) => {
    const simulator = await start()
    const client = await Client.login(simulator)
    const batch = await upload(client, await tarGz(documents(1)), changes)
    assert.strictEqual((await finish(client, batch)).status.code, code)
    assert.deepStrictEqual(simulator.ledger.accepted(), [])
  })

  it("ends as 420 with more documents than a session takes, and as 445 with refused ones only", async () => {
    const simulator = await start()
    const client = await Client.login(simulator)
    const limit = { maxInvoiceSizeInMB: 1, maxInvoiceWithAttachmentSizeInMB: 3, maxInvoices: 2 }
    await client.call("POST", "/testdata/limits/context/session", {
      body: { onlineSession: limit, batchSession: limit }
    })
    const many = await upload(client, await tarGz(documents(3)))
    assert.strictEqual((await finish(client, many)).status.code, 420)
    const bad = await upload(client, await tarGz([{ name: "x.xml", bytes: Buffer.from("<x/>") }]))
    assert.strictEqual((await finish(client, bad)).status.code, 445)
  })

  it("ends as 430 if the archive is a bomb, and the process continues", async () => {
    const simulator = await start()
    const client = await Client.login(simulator)
    const header = Buffer.alloc(512)
    header.write("bomb.xml")
    header.write("0000644\0", 100)
    header.write("77777777777\0", 124)
    header.write("        0", 148)
    header.write("ustar\x0000", 257)
    const sum = header.reduce((all, byte) => all + byte, 0)
    header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148)
    const batch = await upload(client, gzipSync(Buffer.concat([header, Buffer.alloc(50_000_000)])))
    assert.strictEqual((await finish(client, batch)).status.code, 430)
    assert.strictEqual((await client.call("GET", "/rate-limits")).status, 200)
  })

  it("cannot be closed before its parts are uploaded, or after their time", async () => {
    const time = manualTime()
    const simulator = await start({ now: time.now, speed: 10 })
    const client = await Client.login(simulator)
    const { body } = await client.encryption()
    const part = { ordinalNumber: 1, fileSize: 16, fileHash: sha256("x") }
    const open = (fileParts: ReadonlyArray<object>) =>
      client.call("POST", "/sessions/batch", {
        body: { formCode: fa3Form, encryption: body, batchFile: { fileSize: 1, fileHash: sha256("x"), fileParts } }
      })
    const { referenceNumber: reference, partUploadRequests } = (await open([part])).json
    assert.deepStrictEqual(codes(await client.close({ reference }, "batch")), [21205])
    const { headers, url } = partUploadRequests[0]!
    await fetch(url, { method: "PUT", headers, body: "short" })
    assert.deepStrictEqual(codes(await client.close({ reference }, "batch")), [21157])
    assert.strictEqual((await fetch(url, { method: "PUT", body: "x" })).status, 400)
    const bearer = { ...headers, authorization: "Bearer x" }
    assert.strictEqual((await fetch(url, { method: "PUT", headers: bearer, body: "x" })).status, 401)
    time.move(120_000)
    assert.strictEqual((await fetch(url, { method: "PUT", headers, body: "x" })).status, 403)
    const later = await Client.login(simulator)
    assert.deepStrictEqual(codes(await later.close({ reference }, "batch")), [21208])
    assert.strictEqual((await later.sessionStatus(reference)).status.code, 440)
  })

  it("that is being read when the simulator ends is read again by the next one", async () => {
    const folder = mkdtempSync(join(tmpdir(), "batch-"))
    const state = join(folder, "state")
    try {
      const first = await start({ state })
      const client = await Client.login(first)
      const batch = await upload(client, await tarGz(documents(300)))
      await client.close(batch, "batch")
      await first.close()
      const second = await start({ state })
      await second.idle()
      assert.lengthOf(second.ledger.accepted(), 300)
      await second.close()
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })

  it("is refused with too many or too large parts, each with a code of its own", async () => {
    const simulator = await start()
    const client = await Client.login(simulator)
    const { body } = await client.encryption()
    const part = (ordinalNumber: number, fileSize = 16) => ({ ordinalNumber, fileSize, fileHash: sha256("x") })
    const open = async (fileParts: ReadonlyArray<object>) =>
      codes(
        await client.call("POST", "/sessions/batch", {
          body: { formCode: fa3Form, encryption: body, batchFile: { fileSize: 1, fileHash: sha256("x"), fileParts } }
        })
      )
    assert.deepStrictEqual(await open(Array.from({ length: 51 }, (_, index) => part(index + 1))), [21161])
    assert.deepStrictEqual(await open([part(1, 100_000_017)]), [21157])
    assert.deepStrictEqual(await open([part(2)]), [21405])
  })
})
