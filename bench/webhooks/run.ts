/**
 * How fast a webhook is verified: against the least that `node:crypto` needs for it, and against other libraries.
 *
 *     node --conditions=source bench/webhooks/run.ts
 *
 * Prints a report in Markdown, and ends with 1 when a target is missed.
 *
 * **What it shows**: the time of the main thread from the bytes of a body and its headers to a verified event, one
 * request after the other, all subjects in turns within one run, so that they share whatever else the machine does.
 * Ratios are medians over the rounds.
 *
 * **What it does not show**: runtimes without `node:crypto`, where a thread pool sets the pace; several requests at a
 * time; reading the body from a socket, which costs more than all of this. The other libraries sign in schemes of their
 * own, of which octokit's has no timestamp to check.
 *
 * Since everybody ends with the event, everybody pays for `JSON.parse`, and at 1 KiB that is half of the floor. The last
 * table says what the floor itself reaches against each library: where that is below a target, no verifier that gives
 * the event can meet it.
 */
import { cpus } from "node:os"
import { eventOfSize, type Text } from "./events.ts"
import { ours, subjects, type Headers, type Subject } from "./subjects.ts"

const rounds = Number(process.env["ROUNDS"] ?? 9)
const millis = Number(process.env["MILLIS"] ?? 80)
const sizes = [1, 10, 100] as const
const texts = ["ASCII", "Polish"] as const satisfies ReadonlyArray<Text>

/** `verifySync` against others, at least. */
const targets = [
  { against: "floor", size: 1, ratio: 0.8 },
  { against: "floor", size: 10, ratio: 0.95 },
  { against: "floor", size: 100, ratio: 0.97 },
  { against: "@octokit/webhooks-methods", size: 1, ratio: 1.15 },
  { against: "stripe", size: 1, ratio: 2 },
  { against: "standardwebhooks", size: 1, ratio: 5 }
]

const proveItself = async ({ name, verify }: Subject, body: Buffer, headers: Headers) => {
  await verify(body, headers)
  const tampered = Buffer.from(body)
  tampered[tampered.length - 5]! ^= 1
  const refused = await (async () => verify(tampered, headers))().then(
    () => false,
    () => true
  )
  if (!refused) throw new Error(`${name} accepts a body that was changed`)
}

/** Operations in a second of the main thread's time. */
const measure = async ({ verify }: Subject, body: Buffer, headers: Headers): Promise<number> => {
  const batch = body.length > 50_000 ? 20 : 200
  const end = performance.now() + millis
  const before = process.threadCpuUsage()
  let operations = 0
  while (performance.now() < end) {
    for (let index = 0; index < batch; index += 1) {
      const result = verify(body, headers)
      if (result instanceof Promise) await result
    }
    operations += batch
  }
  const { user, system } = process.threadCpuUsage(before)
  return (operations / (user + system)) * 1_000_000
}

const median = (values: ReadonlyArray<number>): number => values.toSorted((a, b) => a - b)[values.length >> 1]!

interface Cell {
  readonly size: number
  readonly text: Text
  readonly perSecond: ReadonlyMap<string, ReadonlyArray<number>>
}

const measureCell = async (size: number, text: Text): Promise<Cell> => {
  const { id, body } = eventOfSize(size * 1024, text)
  const headers = new Map(subjects.map((subject) => [subject.name, subject.sign(id, body)]))
  const perSecond = new Map(subjects.map(({ name }) => [name, [] as Array<number>]))
  for (const subject of subjects) {
    await proveItself(subject, body, headers.get(subject.name)!)
    await measure(subject, body, headers.get(subject.name)!)
  }
  for (let round = 0; round < rounds; round += 1) {
    const start = round % subjects.length
    for (const subject of [...subjects.slice(start), ...subjects.slice(0, start)]) {
      perSecond.get(subject.name)!.push(await measure(subject, body, headers.get(subject.name)!))
    }
  }
  return { size, text, perSecond }
}

const ratioTo = (cell: Cell, name: string, against: string): number => {
  const others = cell.perSecond.get(against)!
  return median(cell.perSecond.get(name)!.map((value, round) => value / others[round]!))
}

const cells: Array<Cell> = []
for (const text of texts) for (const size of sizes) cells.push(await measureCell(size, text))

const row = (columns: ReadonlyArray<string>) => `| ${columns.join(" | ")} |`
const number = (value: number) => Math.round(value).toLocaleString("en-US")

console.log(`# Verification of webhooks

Node ${process.version}, ${cpus()[0]?.model ?? "unknown processor"}, ${rounds} rounds of ${millis} ms.

Webhooks verified in a second (bytes in, event out), and in brackets the ratio to the floor.
`)
console.log(row(["", ...cells.map(({ size, text }) => `${size} KiB ${text}`)]))
console.log(row(["---", ...cells.map(() => "---:")]))
for (const { name } of subjects) {
  const columns = cells.map((cell) => {
    return `${number(median(cell.perSecond.get(name)!))} (${ratioTo(cell, name, "floor").toFixed(2)})`
  })
  console.log(row([name === ours.name ? `**${name}**` : name, ...columns]))
}

console.log(`\n${row(["verifySync against", "size", "text", "at least", "measured", "the floor reaches", ""])}`)
console.log(row(["---", "---:", "---", "---:", "---:", "---:", "---"]))
let missed = 0
for (const { against, size, ratio } of targets) {
  for (const cell of cells.filter((cell) => cell.size === size)) {
    const measured = ratioTo(cell, ours.name, against)
    const met = measured >= ratio
    if (!met) missed += 1
    const floor = ratioTo(cell, "floor", against)
    const verdict = met ? "met" : floor < ratio ? "**missed**, out of reach" : "**missed**"
    const figures = [String(ratio), measured.toFixed(2), floor.toFixed(2)]
    console.log(row([against, `${size} KiB`, cell.text, ...figures, verdict]))
  }
}
process.exitCode = missed === 0 ? 0 : 1
