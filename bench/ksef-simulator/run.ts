/**
 * Measures the KSeF simulator as a process of its own, without limits of calls: how soon it serves, how long 1,000 documents
 * one by one and 10,000 documents in one batch take from the first call to their receipt, and how much memory it holds then.
 *
 * Prints a report in Markdown. Ends with 1 when it takes longer than this many times its floor, by the clock: a start 30 times
 * that of an empty Node, documents one by one 10 times what the same client takes with a server that accepts everything, and a
 * batch 3 times its packing, its upload and the check of its documents. Floors and simulator take turns, on one machine.
 */
import { type ChildProcess, execFileSync, fork, spawn } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { DocumentChecker } from "@govoice/ksef/checks"
import { judge, median } from "../ratios.ts"
import { inTurn } from "../variants.ts"
import { sendBatch, sendBatchToPlain, sendOneByOne, sendOneByOneToPlain, type Simulator } from "./clients.ts"

const starts = 11
const interactive = 1000
const batch = 10_000
const rounds = 3

const cli = join(import.meta.dirname, "../../packages/ksef-simulator/src/cli.ts")

interface Running extends Simulator {
  readonly child: ChildProcess
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

// The floor: the start of any program on Node.
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

const emptyMs: Array<number> = []
const started: Array<Running> = []
for (let round = 0; round < starts; round++) {
  emptyMs.push(await startEmptyNode())
  const simulator = await start()
  started.push(simulator)
  await stop(simulator)
}

const plain = fork(join(import.meta.dirname, "plain.ts"))
const [plainUrl] = (await once(plain, "message")) as [string]
const simulator = await start()

/** The times of the simulator and of its floor, in turns, and the memory of the simulator after the first of them. */
const inTurns = async (
  ofSimulator: (round: number) => Promise<number>,
  ofFloor: (round: number) => Promise<number>
): Promise<{ readonly measured: Array<number>; readonly beside: Array<number>; readonly memory: number }> => {
  const [measured, beside]: [Array<number>, Array<number>] = [[], []]
  let memory = Number.NaN
  const sides = [
    async (round: number) => {
      measured.push(await ofSimulator(round))
      if (round === 0) memory = residentMb(simulator)
    },
    async (round: number) => void beside.push(await ofFloor(round))
  ]
  for (let round = 0; round < rounds; round++) for (const side of inTurn(sides, round)) await side(round)
  return { measured, beside, memory }
}

const before = residentMb(simulator)
const singles = (round: number) => ({ prefix: `I${round}`, count: interactive })
const oneByOne = await inTurns(
  (round) => sendOneByOne(simulator, singles(round)),
  (round) => sendOneByOneToPlain(plainUrl, singles(round))
)
const checker = await DocumentChecker.load()
const packed = (round: number) => ({ prefix: `B${round}`, count: batch })
const inBatch = await inTurns(
  (round) => sendBatch(simulator, packed(round)),
  (round) => sendBatchToPlain(plainUrl, packed(round), checker)
)
await stop(simulator)
plain.kill()

const startCpuMs = median(started.map((one) => one.startCpuMs))
const { exitCode, report } = judge([
  {
    figure: "start to the first answer, ms",
    measured: started.map(({ startMs }) => startMs),
    reference: "an empty `node -e 0`",
    beside: emptyMs,
    atMost: 30
  },
  {
    figure: `${interactive} documents one by one, ms`,
    ...oneByOne,
    reference: "a server that accepts everything",
    atMost: 10
  },
  { figure: `${batch} documents in one batch, ms`, ...inBatch, reference: "packing, upload and check alone", atMost: 3 }
])
console.log(`A start takes ${Math.round(startCpuMs)} ms of processor time. The simulator has ${before.toFixed(0)} MB resident after its start, ${oneByOne.memory.toFixed(0)} after the first ${interactive} documents one by
one, and ${inBatch.memory.toFixed(0)} after the first batch of ${batch}.

${report}`)
process.exitCode = exitCode
