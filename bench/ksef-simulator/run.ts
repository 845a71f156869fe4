/**
 * Measures the KSeF simulator as a process of its own, without limits of calls: how soon it serves, how long 1,000 documents
 * one by one and 10,000 documents in one batch take from the first call to their receipt, and how much memory it holds then.
 *
 * Prints a report in Markdown. Ends with 1 when a target is missed: it serves within a second, and either amount of documents
 * takes less than 30 seconds, with simulator and load on one machine.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { TarGz } from "@govoice/ksef/crypto"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { Client, encrypt, fa3Form, sha256 } from "../../packages/ksef-simulator/test/support/Client.ts"
import { fa3 } from "../../packages/ksef-simulator/test/support/invoices.ts"

const targets = { startMs: 1000, interactiveMs: 30_000, batchMs: 30_000 }
const starts = 7
const interactive = 1000
const batch = 10_000
const connections = 8

const cli = join(import.meta.dirname, "../../packages/ksef-simulator/src/cli.ts")

interface Running {
  readonly child: ChildProcess
  readonly url: string
  readonly nip: string
  readonly token: string
  /** From the start of the process to its first answer. */
  readonly startMs: number
}

const start = async (): Promise<Running> => {
  const begin = performance.now()
  const child = spawn(process.execPath, ["--conditions=source", cli, "--limits", "off", "--processing", "0"], {
    stdio: ["ignore", "pipe", "inherit"]
  })
  const [line] = (await once(child.stdout, "data")) as [Buffer]
  const { nip, token, url } = JSON.parse(line.toString("utf8")) as Omit<Running, "child" | "startMs">
  const answer = await fetch(`${url}/security/public-key-certificates`)
  if (answer.status !== 200) throw new Error(`Expected 200, got ${answer.status}`)
  return { child, url, nip, token, startMs: performance.now() - begin }
}

const stop = async ({ child }: Running): Promise<void> => {
  child.kill("SIGTERM")
  await once(child, "exit")
}

const residentMb = ({ child }: Running): number =>
  Number(execFileSync("ps", ["-o", "rss=", "-p", String(child.pid)], { encoding: "utf8" })) / 1024

const expectStatus = (found: number, expected: number): void => {
  if (found !== expected) throw new Error(`Expected the session to end with ${expected}, got ${found}.`)
}

const sendOneByOne = async (simulator: Running): Promise<number> => {
  const client = await Client.login(simulator)
  const begin = performance.now()
  const session = await client.open()
  let next = 0
  const send = async (): Promise<void> => {
    while (next < interactive) {
      const number = `I/${(next += 1)}`
      const answer = await client.send(session, fa3({ number, seller: simulator.nip }))
      if (answer.status !== 202) throw new Error(`${answer.status} ${answer.text}`)
    }
  }
  await Promise.all(Array.from({ length: connections }, send))
  await client.close(session)
  const { status, successfulInvoiceCount, upo } = await client.sessionStatus(session.reference)
  expectStatus(status.code, 200)
  expectStatus(successfulInvoiceCount ?? 0, interactive)
  await (await fetch(upo!.pages[0]!.downloadUrl)).text()
  return performance.now() - begin
}

const sendBatch = async (simulator: Running): Promise<number> => {
  const client = await Client.login(simulator)
  const files = Array.from({ length: batch }, (_, index) => ({
    name: `${index}.xml`,
    bytes: Buffer.from(fa3({ number: `B/${index}`, seller: simulator.nip }))
  }))
  const begin = performance.now()
  const archive = Buffer.concat(await Effect.runPromise(Stream.runCollect(TarGz.pack(files))))
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
  expectStatus(successfulInvoiceCount ?? 0, batch)
  await (await fetch(upo!.pages[0]!.downloadUrl)).text()
  return performance.now() - begin
}

const startTimes: Array<number> = []
for (let round = 0; round < starts; round++) {
  const simulator = await start()
  startTimes.push(simulator.startMs)
  await stop(simulator)
}
startTimes.sort((left, right) => left - right)

const simulator = await start()
const before = residentMb(simulator)
const interactiveMs = await sendOneByOne(simulator)
const between = residentMb(simulator)
const batchMs = await sendBatch(simulator)
const after = residentMb(simulator)
await stop(simulator)

const startMs = startTimes[Math.floor(starts / 2)]!
const row = (what: string, ms: number, target: number, memory: string): string =>
  `| ${what} | ${Math.round(ms)} | ${target} | ${memory} |`
const mb = (value: number): string => value.toFixed(0)

console.log(
  [
    "| | ms | target | memory, MB |",
    "| --- | ---: | ---: | ---: |",
    row(`start to the first answer, median of ${starts}`, startMs, targets.startMs, mb(before)),
    row(`the slowest of them`, startTimes.at(-1)!, targets.startMs, ""),
    row(
      `${interactive} documents one by one, ${connections} at a time`,
      interactiveMs,
      targets.interactiveMs,
      mb(between)
    ),
    row(`${batch} documents in one batch`, batchMs, targets.batchMs, mb(after))
  ].join("\n")
)
if (startMs > targets.startMs || interactiveMs > targets.interactiveMs || batchMs > targets.batchMs)
  process.exitCode = 1
