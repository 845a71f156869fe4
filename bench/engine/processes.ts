/** Starts, messages and ends the processes of a benchmark. */
import { type ChildProcess, execFileSync, fork, spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { bundle } from "./bundle.ts"
import type { Received } from "./receiver.ts"

const root = join(import.meta.dirname, "../..")
const node = process.execPath
const children = new Set<ChildProcess>()

const keep = (child: ChildProcess): ChildProcess => {
  children.add(child)
  child.once("exit", () => children.delete(child))
  return child
}

process.on("exit", () => {
  for (const child of children) child.kill("SIGKILL")
})

export const sleep = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds))

/** Polls until the condition holds. Throws at the deadline. */
export const until = async (
  what: string,
  check: () => Promise<boolean> | boolean,
  withinMs: number,
  everyMs = 25
): Promise<void> => {
  const deadline = Date.now() + withinMs
  while (!(await check())) {
    if (Date.now() > deadline) throw new Error(`Timed out waiting for ${what}`)
    await sleep(everyMs)
  }
}

const next = (child: ChildProcess): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const onExit = (code: number | null) => reject(new Error(`A child ended with ${code}`))
    child.once("exit", onExit)
    child.once("message", (message) => {
      child.off("exit", onExit)
      resolve(message)
    })
  })

export interface Receiver {
  readonly port: number
  readonly url: string
  readonly reset: () => Promise<void>
  readonly count: () => Promise<number>
  readonly report: () => Promise<Received>
  readonly stop: () => void
}

export const startReceiver = async (): Promise<Receiver> => {
  const child = keep(fork(join(import.meta.dirname, "receiver.ts")))
  const port = (await next(child)) as number
  const ask = (message: string) => {
    const answer = next(child)
    child.send(message)
    return answer
  }
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    reset: async () => void (await ask("reset")),
    count: async () => (await ask("count")) as number,
    report: async () => (await ask("report")) as Received,
    stop: () => void child.kill("SIGKILL")
  }
}

export interface Worker {
  readonly child: ChildProcess
  /** Resident memory in MiB. */
  readonly rss: () => number
  /** CPU time in seconds. */
  readonly cpu: () => number
  readonly stop: () => Promise<void>
}

/** Reads a field of `/proc`, where there is one. */
const procStatus = (pid: number | undefined, field: string): number =>
  Number(new RegExp(`^${field}:\\s+(\\d+)`, "m").exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0)

/** The CPU time of a process and of its children that have ended, in seconds. */
export const cpuWithChildren = (pid: number): number => {
  let stat: string
  try {
    stat = readFileSync(`/proc/${pid}/stat`, "utf8")
  } catch {
    return 0 // It has just ended: its parent counts it.
  }
  const fields = stat.split(") ")[1]!.split(" ")
  return fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0) / 100
}

/** The running children of a process. */
export const childrenOf = (pid: number): ReadonlyArray<number> =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number)

const procCpu = (pid: number | undefined): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ")
  return (Number(fields[11]) + Number(fields[12])) / 100
}

const toWorker = (child: ChildProcess): Worker => ({
  child,
  rss: () => Math.round(procStatus(child.pid, "VmRSS") / 1024),
  cpu: () => procCpu(child.pid),
  stop: () =>
    new Promise((resolve) => {
      if (child.exitCode !== null) return resolve()
      const timer = setTimeout(() => child.kill("SIGKILL"), 20_000)
      child.once("exit", () => {
        clearTimeout(timer)
        resolve()
      })
      child.kill("SIGTERM")
    })
})

let command: string | undefined

/** Starts a process of the server as it is shipped, which writes to the standard error of this process. */
export const startServer = (environment: Readonly<Record<string, string>>): Worker => {
  command ??= bundle()
  return toWorker(
    keep(
      spawn(node, [command, "serve"], {
        cwd: root,
        stdio: ["ignore", process.env["BENCH_LOG"] === "1" ? "inherit" : "ignore", "inherit"],
        env: { PATH: process.env["PATH"], ...environment }
      })
    )
  )
}

/** Runs a command of the server as it is shipped. Throws when it fails. */
export const runCommand = (names: string, environment: Readonly<Record<string, string>>): void => {
  command ??= bundle()
  execFileSync(node, [command, ...names.split(" ")], { env: { PATH: process.env["PATH"], ...environment } })
}

/** Starts a process that does the same job with another queue. */
export const startPeer = (file: string, environment: Readonly<Record<string, string>>): Worker =>
  toWorker(
    keep(
      spawn(node, ["--conditions=source", join(import.meta.dirname, "peers", file)], {
        cwd: root,
        stdio: ["ignore", process.env["BENCH_LOG"] === "1" ? "inherit" : "ignore", "inherit"],
        env: { PATH: process.env["PATH"], ...environment }
      })
    )
  )
