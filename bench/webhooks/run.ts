/**
 * Measures how fast a webhook is verified, beside the minimum that `node:crypto` needs and beside other libraries.
 *
 *     node --conditions=source bench/webhooks/run.ts
 *
 * Prints a report in Markdown, and exits with 1 when a target is missed.
 *
 * **Measured**: the time of the main thread from body and headers to a verified event, and the share of verification. The
 * requests are sequential, and all subjects take turns in one process for each body, so that the load of the machine
 * affects all of them. Ratios are medians over the rounds.
 *
 * **Not measured**: runtimes without `node:crypto`, where a thread pool limits the rate; concurrent requests; reading the
 * body from a socket, which costs more than everything here. The other libraries have their own signature schemes, and
 * octokit's has neither an id nor a timestamp.
 *
 * **Targets**: they hold for bodies of one long text, where parsing takes almost no time. The ratio to the minimum includes
 * parsing on both sides; the one to another library is for verification alone.
 *
 * **Results**: on Node 24.21, beside other programs, an event of 2 KiB takes 10 µs. Verification alone takes about as long as
 * that of stripe, 1.6 times as long as that of octokit for ASCII and as long for Polish, and a third of that of
 * standardwebhooks. From 10 KiB on most of it is the hash.
 */
import { execFileSync } from "node:child_process"
import { cpus } from "node:os"
import { eventOfSize, type Shape, type Text } from "./events.ts"
import { ours, subjects, type Headers, type Subject } from "./subjects.ts"

const rounds = Number(process.env["ROUNDS"] ?? 7)
const millis = Number(process.env["MILLIS"] ?? 60)
const shapes = ["text", "realistic"] as const satisfies ReadonlyArray<Shape>
const sizes = [2, 10, 100] as const
const texts = ["ASCII", "Polish"] as const satisfies ReadonlyArray<Text>
type End = "verified" | "parsed"

/** `verifySync` against others, at least, for bodies of one long text. */
const targets: ReadonlyArray<{ end: End; against: string; size: number; ratio: number }> = [
  { end: "parsed", against: "floor", size: 2, ratio: 0.5 },
  { end: "parsed", against: "floor", size: 10, ratio: 0.7 },
  { end: "parsed", against: "floor", size: 100, ratio: 0.8 },
  { end: "verified", against: "standardwebhooks", size: 2, ratio: 2.5 }
]

const proveItself = async ({ name, parsed, verified }: Subject, body: Buffer, headers: Headers) => {
  const tampered = Buffer.from(body)
  tampered[tampered.length - 5]! ^= 1
  for (const run of verified ? [parsed, verified] : [parsed]) {
    await run(body, headers)
    const refused = await (async () => run(tampered, headers))().then(
      () => false,
      () => true
    )
    if (!refused) throw new Error(`${name} accepts a modified body`)
  }
}

const cpuMicros = (): number => {
  const { user, system } = process.threadCpuUsage()
  return user + system
}

/** Microseconds of the main thread for one operation. */
const measure = async (run: () => unknown, size: number): Promise<number> => {
  const batch = size > 50 ? 2 : size > 5 ? 20 : 100
  // Begins and ends with a tick, because some clocks have a resolution of milliseconds.
  const early = cpuMicros()
  let begin = cpuMicros()
  while (begin === early) begin = cpuMicros()
  let operations = 0
  let now = begin
  while (now < begin + millis * 1000) {
    for (let index = 0; index < batch; index += 1) {
      const result = run()
      if (result instanceof Promise) await result
    }
    operations += batch
    now = cpuMicros()
  }
  return (now - begin) / operations
}

const median = (values: ReadonlyArray<number>): number => values.toSorted((a, b) => a - b)[values.length >> 1]!

interface Cell {
  readonly shape: Shape
  readonly size: number
  readonly text: Text
  /** Microseconds in each round. */
  readonly times: (name: string, end: End) => ReadonlyArray<number>
}

type Times = ReadonlyArray<readonly [task: string, times: ReadonlyArray<number>]>

const measureCell = async (shape: Shape, size: number, text: Text): Promise<Times> => {
  const { id, body } = eventOfSize(shape, size * 1024, text)
  const tasks = new Map<string, () => unknown>()
  for (const subject of subjects) {
    const headers = subject.sign(id, body)
    await proveItself(subject, body, headers)
    tasks.set(`${subject.name}, parsed`, () => subject.parsed(body, headers))
    const { verified } = subject
    if (verified) tasks.set(`${subject.name}, verified`, () => verified(body, headers))
  }
  const times = new Map([...tasks.keys()].map((name) => [name, [] as Array<number>]))
  // Three rounds of warm-up, until everything is compiled.
  for (let time = 0; time < 3; time += 1) for (const run of tasks.values()) await measure(run, size)
  for (let round = 0; round < rounds; round += 1) {
    const list = [...tasks]
    const start = round % list.length
    for (const [name, run] of [...list.slice(start), ...list.slice(0, start)]) {
      times.get(name)!.push(await measure(run, size))
    }
  }
  return [...times]
}

/**
 * Each cell has its own process. In a shared process, the bodies of earlier cells changed how a subject was compiled and
 * where its objects were allocated, by up to 40 %.
 */
const startCell = (shape: Shape, size: number, text: Text): Cell => {
  const [, file] = process.argv
  const output = execFileSync(process.execPath, [...process.execArgv, file!, shape, String(size), text], {
    encoding: "utf8"
  })
  const times = new Map(JSON.parse(output) as Times)
  const timesOf = (name: string, end: End): ReadonlyArray<number> => {
    const like = subjects.find((subject) => subject.name === name)!.parsesLike
    if (end === "parsed" || like === undefined) return times.get(`${name}, ${end}`)!
    const [parsed, verified] = [timesOf(like, "parsed"), timesOf(like, "verified")]
    const event = median(parsed.map((time, round) => time - verified[round]!))
    return times.get(`${name}, parsed`)!.map((time) => time - event)
  }
  return { shape, size, text, times: timesOf }
}

/** How many times as fast one is as another. */
const ratio = (cell: Cell, name: string, against: string, end: End): number => {
  const others = cell.times(against, end)
  return median(cell.times(name, end).map((time, round) => others[round]! / time))
}

const [shape, size, text] = process.argv.slice(2)
if (shape !== undefined) {
  console.log(JSON.stringify(await measureCell(shape as Shape, Number(size), text as Text)))
  process.exit()
}

const cells: Array<Cell> = []
for (const shape of shapes) {
  for (const text of texts) for (const size of sizes) cells.push(startCell(shape, size, text))
}

const row = (columns: ReadonlyArray<string>) => `| ${columns.join(" | ")} |`
const perSecond = (micros: number) => Math.round(1_000_000 / micros).toLocaleString("en-US")

console.log(`# Verification of webhooks

Node ${process.version}, ${cpus()[0]?.model ?? "unknown processor"}, ${rounds} rounds of ${millis} ms. Webhooks per second of
main-thread time, and in brackets the ratio to the minimum: KeyObject, createHmac, timingSafeEqual, and JSON.parse if the
event is parsed.

verifySync and stripe always parse the event; standardwebhooks has an option. octokit and svix only verify, so the benchmark
parses the event from their text. Octokit checks no timestamp.`)

const explained: Record<End, string> = {
  verified: `Verified only. The time of parsing is subtracted for libraries that always parse: ${subjects
    .flatMap(({ name, parsesLike }) => (parsesLike === undefined ? [] : `for ${name} the time of ${parsesLike}`))
    .join(", ")}.`,
  parsed: "Verified and parsed."
}
const shapeIs: Record<Shape, string> = {
  text: "Bodies of one long text",
  realistic: "Events with much metadata"
}

for (const shape of shapes) {
  for (const end of ["verified", "parsed"] as const) {
    const shown = cells.filter((cell) => cell.shape === shape)
    console.log(
      `\n## ${shapeIs[shape]}: ${end === "parsed" ? "the event" : "verification alone"}\n\n${explained[end]}\n`
    )
    console.log(row(["", ...shown.map(({ size, text }) => `${size} KiB ${text}`)]))
    console.log(row(["---", ...shown.map(() => "---:")]))
    for (const { name } of subjects) {
      const columns = shown.map(
        (cell) => `${perSecond(median(cell.times(name, end)))} (${ratio(cell, name, "floor", end).toFixed(2)})`
      )
      console.log(row([name === ours.name ? `**${name}**` : name, ...columns]))
    }
  }
}

console.log(`\n## Targets\n`)
console.log(row(["verifySync against", "end", "size", "text", "at least", "measured", "", "realistic events"]))
console.log(row(["---", "---", "---:", "---", "---:", "---:", "---", "---:"]))
let missed = 0
for (const { end, against, size, ratio: least } of targets) {
  for (const text of texts) {
    const [held, realistic] = shapes.map((shape) => {
      const cell = cells.find((cell) => cell.shape === shape && cell.size === size && cell.text === text)!
      return ratio(cell, ours.name, against, end)
    })
    if (held! < least) missed += 1
    const verdict = held! < least ? "**missed**" : "met"
    const figures = [String(least), held!.toFixed(2), verdict, realistic!.toFixed(2)]
    console.log(row([against, end, `${size} KiB`, text, ...figures]))
  }
}
process.exitCode = missed === 0 ? 0 : 1
