/**
 * Measures how long the built `govoice` takes to start, and its memory at rest, beside an empty Node in the same round:
 * `--help`, `serve` on an embedded database that is new, that exists and that is in memory, and `serve` on Postgres.
 *
 * Prints a report in Markdown. Exits with 1 when a ratio to the empty Node misses its goal. The ratios are of processor time and
 * of resident memory; the times to ready are in the report alone, because a busy machine changes them most. They are from the
 * start of the process to the banner, which `serve` prints when it listens. Memory is that of the server, 5 s later; its
 * spare process is not started. `BENCH_ROUNDS` changes the number of rounds (5).
 */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { cpus, loadavg, tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { startPostgres } from "../../test/support/postgres.ts"
import { bundle } from "../engine/bundle.ts"
import { type Comparison, judge, median } from "../ratios.ts"
import { exitOnSignals, inTurn } from "../variants.ts"

const rounds = Number(process.env["BENCH_ROUNDS"] ?? 5)
const restMs = 5000

/** One start: until it was ready, or until it ended. */
interface Measured {
  readonly wallMs: number
  readonly cpuMs: number
  /** Of a process that stays; NaN of one that ends. */
  readonly rssMiB: number
}

interface Start {
  readonly args: ReadonlyArray<string>
  readonly settings?: Readonly<Record<string, string>>
  /** Standard error has it when the process is ready. Without it, the process ends. */
  readonly readyWith?: string
}

// A tick of `/proc` is 10 ms.
const cpuMsOf = (pid: number): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /s, "")
    .split(" ")
  return 10 * (Number(fields[11]) + Number(fields[12]))
}

const rssMiBOf = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024

const isReady = async (child: ChildProcess, text: string): Promise<void> => {
  let output = ""
  for await (const chunk of child.stderr!) if ((output += String(chunk)).includes(text)) return
  throw new Error(`The process ended before it was ready:\n${output}`)
}

const toEnd = async (child: ChildProcess, startedAt: number): Promise<Measured> => {
  const [code] = (await once(child, "exit")) as [number]
  if (code !== 0) throw new Error(`Expected exit code 0, got ${code}`)
  return { wallMs: performance.now() - startedAt, cpuMs: Number.NaN, rssMiB: Number.NaN }
}

const toReady = async (child: ChildProcess, startedAt: number, text: string): Promise<Measured> => {
  await isReady(child, text)
  const wallMs = performance.now() - startedAt
  const cpuMs = cpuMsOf(child.pid!)
  await sleep(restMs)
  const rssMiB = rssMiBOf(child.pid!)
  const ended = once(child, "exit")
  child.kill("SIGTERM")
  await ended
  return { wallMs, cpuMs, rssMiB }
}

const children = new Set<ChildProcess>()
process.once("exit", () => children.forEach((child) => child.kill("SIGKILL")))

const measure = ({ args, readyWith, settings }: Start): Promise<Measured> => {
  const startedAt = performance.now()
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env["PATH"], PORT: "0", ...settings },
    stdio: ["ignore", "ignore", "pipe"]
  })
  children.add(child)
  return readyWith === undefined ? toEnd(child, startedAt) : toReady(child, startedAt, readyWith)
}

exitOnSignals()
const command = bundle()
const folder = mkdtempSync(join(tmpdir(), "bench-start-"))
process.once("exit", () => rmSync(folder, { recursive: true, force: true }))
const postgres = await startPostgres()

const serve = (settings: Readonly<Record<string, string>>): Start => ({
  args: [command, "serve"],
  settings,
  readyWith: "  Data "
})
const onPostgres = (role: string) =>
  serve({
    DATABASE_URL: postgres.url,
    GOVOICE_ROLE: role,
    GOVOICE_JWT_SECRET: "a secret of the benchmark, long enough to sign with",
    GOVOICE_ENCRYPTION_KEYS: `k1:${Buffer.alloc(32, 1).toString("base64")}`
  })
const kept = join(folder, "kept")

// An empty Node that says when it is ready, and stays.
const emptyNode = {
  args: ["-e", "console.error('ready'); setInterval(() => {}, 1000)"],
  readyWith: "ready"
}
const help = { args: [command, "--help"] }
const ended = { args: ["-e", "0"] }

const starts = {
  "`node -e 0`": () => ended,
  "`govoice --help`": () => help,
  "an empty Node that stays": () => emptyNode,
  "`serve`, a new embedded database": (round: number) => serve({ GOVOICE_DATA_DIR: join(folder, String(round)) }),
  "`serve`, an embedded database that exists": () => serve({ GOVOICE_DATA_DIR: kept }),
  "`serve` in memory": () => serve({ GOVOICE_DATA_DIR: "memory" }),
  "`serve` on Postgres, `api`": () => onPostgres("api"),
  "`serve` on Postgres, `worker`": () => onPostgres("worker"),
  "`serve` on Postgres, `all`": () => onPostgres("all")
} satisfies Record<string, (round: number) => Start>

type Name = keyof typeof starts
const names = Object.keys(starts) as ReadonlyArray<Name>
const startOf = (name: Name, round: number): Start => (starts as Record<Name, (round: number) => Start>)[name](round)

// Processor time of a process that has ended is known to its parent alone, with that of all others.
const cpuOfRuns = async (start: Start, runs: number): Promise<number> => {
  const script = `const { spawnSync } = require("node:child_process")
    for (let n = 0; n < ${runs}; n++) spawnSync(process.execPath, ${JSON.stringify(start.args)}, { stdio: "ignore" })
    const fields = require("node:fs").readFileSync("/proc/self/stat", "utf8").replace(/^.*\\) /s, "").split(" ")
    console.log(10 * (Number(fields[13]) + Number(fields[14])) / ${runs})`
  const child = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "inherit"] })
  let output = ""
  for await (const chunk of child.stdout) output += String(chunk)
  return Number(output)
}

try {
  // Migrates, and makes the directory.
  for (const name of ["`serve`, an embedded database that exists", "`serve` on Postgres, `all`"] as const)
    await measure(startOf(name, -1))

  const measured = new Map(names.map((name) => [name, [] as Array<Measured>]))
  for (let round = 0; round < rounds; round++) {
    for (const name of inTurn(names, round)) {
      const start = startOf(name, round)
      const one = await measure(start)
      const cpuMs = start.readyWith === undefined ? await cpuOfRuns(start, 5) : one.cpuMs
      measured.get(name)!.push({ ...one, cpuMs })
    }
  }

  const of = (name: Name, figure: keyof Measured) => measured.get(name)!.map((one) => one[figure])
  const cell = (name: Name, figure: keyof Measured): string => {
    const value = median(of(name, figure))
    return Number.isNaN(value) ? "-" : Math.round(value).toLocaleString("en")
  }
  const beside = (name: Name, figure: keyof Measured, floor: Name, goal: Pick<Comparison, "atMost">): Comparison => ({
    figure: `${name}, ${{ wallMs: "time, ms", cpuMs: "processor time, ms", rssMiB: "resident at rest, MiB" }[figure]}`,
    measured: of(name, figure),
    reference: floor,
    beside: of(floor, figure),
    ...goal
  })
  const empty = "an empty Node that stays"
  const { exitCode, report } = judge([
    beside("`govoice --help`", "cpuMs", "`node -e 0`", { atMost: 4 }),
    // 320 MB with an embedded database and 140 MB on Postgres, beside the 46 MB of an empty Node.
    beside("`serve`, a new embedded database", "rssMiB", empty, { atMost: 7 }),
    beside("`serve` in memory", "rssMiB", empty, { atMost: 7 }),
    beside("`serve` in memory", "cpuMs", "`node -e 0`", { atMost: 48 }),
    beside("`serve` on Postgres, `api`", "rssMiB", empty, { atMost: 3 }),
    beside("`serve` on Postgres, `all`", "rssMiB", empty, { atMost: 3 }),
    beside("`serve` on Postgres, `all`", "cpuMs", "`node -e 0`", { atMost: 30 })
  ])

  console.log(`# Start and rest

Node ${process.versions.node}, ${cpus().length} × ${cpus()[0]?.model.trim() ?? "unknown"}, load average ${loadavg()[0]!.toFixed(1)}. Medians of ${rounds} rounds, each start in turn. Processor
time is user and system time until the process is ready, or ends.

| process | to ready or end, ms | processor time, ms | resident at rest, MiB |
| --- | ---: | ---: | ---: |
${names.map((name) => `| ${[name, cell(name, "wallMs"), cell(name, "cpuMs"), cell(name, "rssMiB")].join(" | ")} |`).join("\n")}

${report}`)
  process.exitCode = exitCode
} finally {
  await postgres.remove()
}
process.exit()
