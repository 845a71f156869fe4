/** Documents sent to a KSeF simulator by a client as small as it can be, and the same work without a simulator, as its floor. */
import { randomBytes } from "node:crypto"
import type { DocumentChecker } from "@govoice/ksef/checks"
import { TarGz } from "@govoice/ksef/crypto"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { Client, encrypt, fa3Form, sha256 } from "../../packages/ksef-simulator/test/support/Client.ts"
import { fa3 } from "../../packages/ksef-simulator/test/support/invoices.ts"

const connections = 8

/** A simulator and its taxpayer. */
export interface Simulator {
  readonly url: string
  readonly nip: string
  readonly token: string
}

/** The documents to send. Their numbers begin with the prefix, because a number is accepted once. */
export interface Documents {
  readonly prefix: string
  readonly count: number
}

const expectStatus = (found: number, expected: number): void => {
  if (found !== expected) throw new Error(`Expected the session to end with ${expected}, got ${found}.`)
}

const sendAll = async (
  client: Client,
  session: Awaited<ReturnType<Client["open"]>>,
  { count, prefix }: Documents,
  seller: string
): Promise<void> => {
  let next = 0
  const send = async (): Promise<void> => {
    while (next < count) {
      const number = `${prefix}/${(next += 1)}`
      const answer = await client.send(session, fa3({ number, seller }))
      if (answer.status !== 202) throw new Error(`${answer.status} ${answer.text}`)
    }
  }
  await Promise.all(Array.from({ length: connections }, send))
}

/** Sends documents one by one, eight at a time, until their UPO is read. Returns milliseconds. */
export const sendOneByOne = async (simulator: Simulator, documents: Documents): Promise<number> => {
  const client = await Client.login(simulator)
  const begin = performance.now()
  const session = await client.open()
  await sendAll(client, session, documents, simulator.nip)
  await client.close(session)
  const { status, successfulInvoiceCount, upo } = await client.sessionStatus(session.reference)
  expectStatus(status.code, 200)
  expectStatus(successfulInvoiceCount ?? 0, documents.count)
  await (await fetch(upo!.pages[0]!.downloadUrl)).text()
  return performance.now() - begin
}

const pack = async (files: ReadonlyArray<{ readonly name: string; readonly bytes: Buffer }>): Promise<Buffer> =>
  Buffer.concat(await Effect.runPromise(Stream.runCollect(TarGz.pack(Stream.fromIterable(files)))))

const filesOf = ({ count, prefix }: Documents, seller: string) =>
  Array.from({ length: count }, (_, index) => ({
    name: `${index}.xml`,
    bytes: Buffer.from(fa3({ number: `${prefix}/${index}`, seller }))
  }))

/** Sends documents in one batch, until their UPO is read. Returns milliseconds. */
export const sendBatch = async (simulator: Simulator, documents: Documents): Promise<number> => {
  const client = await Client.login(simulator)
  const files = filesOf(documents, simulator.nip)
  const begin = performance.now()
  const archive = await pack(files)
  const { body: encryption, secret } = await client.encryption()
  const part = encrypt(secret, archive)
  const { json } = await client.call("POST", "/sessions/batch", {
    body: {
      formCode: fa3Form,
      encryption,
      batchFile: {
        fileSize: archive.length,
        fileHash: sha256(archive),
        compressionType: "TarGz",
        fileParts: [{ ordinalNumber: 1, fileSize: part.length, fileHash: sha256(part) }]
      }
    }
  })
  const { headers, url } = json.partUploadRequests[0]!
  await fetch(url, { method: "PUT", headers, body: part })
  await client.close({ reference: json.referenceNumber }, "batch")
  const { status, successfulInvoiceCount, upo } = await client.sessionStatus(json.referenceNumber)
  expectStatus(status.code, 200)
  expectStatus(successfulInvoiceCount ?? 0, documents.count)
  await (await fetch(upo!.pages[0]!.downloadUrl)).text()
  return performance.now() - begin
}

const nip = "5265877635"
const secret = { key: randomBytes(32), vector: randomBytes(16) }

/** The floor of `sendOneByOne`: encrypts and sends the same documents to a server that accepts everything. */
export const sendOneByOneToPlain = async (url: string, documents: Documents): Promise<number> => {
  const begin = performance.now()
  await sendAll(new Client({ url }), { reference: "plain", ...secret }, documents, nip)
  return performance.now() - begin
}

/**
 * The floor of `sendBatch`: packs, encrypts and uploads the same documents to a server that accepts everything, and checks each
 * against the schema.
 */
export const sendBatchToPlain = async (
  url: string,
  documents: Documents,
  checker: DocumentChecker.DocumentChecker
): Promise<number> => {
  const files = filesOf(documents, nip)
  const begin = performance.now()
  const part = encrypt(secret, await pack(files))
  await (await fetch(url, { method: "PUT", body: part })).text()
  for (const { bytes } of files) checker.check(bytes.toString(), { today: "2026-11-22", environment: "demo" })
  return performance.now() - begin
}
