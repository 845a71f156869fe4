/**
 * Measures the KSeF simulator as a process of its own, without limits of calls: how soon it serves, how long 1,000 documents
 * one by one and 10,000 documents in one batch take from the first call to their receipt, and how much memory it holds then.
 *
 * Prints a report in Markdown. Ends with 1 when a target is missed, by the clock: it serves within a second, and either amount
 * of documents takes less than 30 seconds, with simulator and load on one machine. Between the starts an empty Node is started:
 * its time is the floor of this machine at this moment.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { TarGz } from "@govoice/ksef/crypto"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { Client, encrypt, fa3Form, sha256 } from "../../packages/ksef-simulator/test/support/Client.ts"
import { fa3 } from "../../packages/ksef-simulator/test/support/invoices.ts"

const targets = { startMs: 1000, interactiveMs: 30_000, batchMs: 30_000 }
const starts = 11
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
  /** Processor time of all threads until then. */
  readonly startCpuMs: number
}

const start = async (): Promise<Running> => {
  const begin = performance.now()
  const child = spawn(process.execPath, ["--conditions=source", cli, "--limits", "off", "--processing", "0"], {
    stdio: ["ignore", "pipe", "inherit"]
  })
  const [line] = (await once(child.stdout, "data")) as [Buffer]
  const { nip, token, url } = JSON.parse(line.toString("utf8")) as Pick<Running, "nip" | "token" | "url">
  const answer = await fetch(`${url}/security/public-key-certificates`)
  if (answer.status !== 200) throw new Error(`Expected 200, got ${answer.status}`)
  return { child, url, nip, token, startMs: performance.now() - begin, startCpuMs: cpuMs(child) }
}

// Fields 14 and 15 of Linux: user and system time in hundredths of a second.
const cpuMs = ({ pid }: ChildProcess): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(" ")
  return (Number(fields[13]) + Number(fields[14])) * 10
}

// What any program pays that runs on Node.
const startEmptyNode = async (): Promise<number> => {
  const begin = performance.now()
  const child = spawn(process.execPath, ["-e", "0"], { stdio: "ignore" })
  const [code] = (await once(child, "exit")) as [number | null]
  if (code !== 0) throw new Error(`Expected an empty Node to end with 0, got ${code}`)
  return performance.now() - begin
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
  const archive = Buffer.concat(await Effect.runPromise(Stream.runCollect(TarGz.pack(Stream.fromIterable(files)))))
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

const median = (values: ReadonlyArray<number>): number =>
  values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)]!

const emptyMs: Array<number> = []
const started: Array<Running> = []
for (let round = 0; round < starts; round++) {
  emptyMs.push(await startEmptyNode())
  const simulator = await start()
  started.push(simulator)
  await stop(simulator)
}

const simulator = await start()
const before = residentMb(simulator)
const interactiveMs = await sendOneByOne(simulator)
const between = residentMb(simulator)
const batchMs = await sendBatch(simulator)
const after = residentMb(simulator)
await stop(simulator)

const startMs = median(started.map((one) => one.startMs))
const startCpuMs = median(started.map((one) => one.startCpuMs))
const row = (what: string, ms: number, target: number | string, memory: string): string =>
  `| ${what} | ${Math.round(ms)} | ${target} | ${memory} |`
const mb = (value: number): string => value.toFixed(0)

console.log(
  [
    "| | ms | target | memory, MB |",
    "| --- | ---: | ---: | ---: |",
    row(`an empty \`node -e 0\`, median of ${starts}`, median(emptyMs), "", ""),
    row(`start to the first answer, median of ${starts}`, startMs, targets.startMs, mb(before)),
    row("processor time of that", startCpuMs, "", ""),
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
