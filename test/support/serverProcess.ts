/**
 * A process of the server under test. A suite that imports this module fails if one of its processes ends with an uncaught
 * exception or an unhandled rejection.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { afterAll } from "vitest"
import { patienceMs } from "./patienceMs.ts"

type Environment = Readonly<Record<string, string>>

const processes: Array<ServerProcess> = []

// The log lines of the server, and the last line of the report of Node about an uncaught exception.
const crash = /uncaught ?exception|unhandled ?rejection|^Node\.js v\d+/im

const url = /^ {2}API +(http\S+)\/v1$/m

export class ServerProcess {
  readonly child: ChildProcess
  /** Resolves with the exit code, or `null` after a signal. */
  readonly exited: Promise<number | null>
  stdout = ""
  stderr = ""
  /** Set by tests that crash the process on purpose. */
  mayCrash = false

  /** Runs Node with these arguments. Of the environment of this process it inherits `PATH` and the cache of compiled modules. */
  constructor(args: ReadonlyArray<string>, environment: Environment, options: { readonly cwd?: string } = {}) {
    this.child = spawn(process.execPath, args, {
      ...options,
      env: { PATH: process.env["PATH"], NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"], ...environment },
      stdio: ["ignore", "pipe", "pipe"]
    })
    this.child.stdout?.setEncoding("utf8").on("data", (text: string) => (this.stdout += text))
    this.child.stderr?.setEncoding("utf8").on("data", (text: string) => (this.stderr += text))
    this.exited = new Promise((resolve) => this.child.once("close", (code) => resolve(code)))
    processes.push(this)
  }

  /** The output so far, standard error first. */
  get text(): string {
    return this.stderr + this.stdout
  }

  /** The log lines, parsed. Throws when standard output has anything else. */
  get log(): ReadonlyArray<LogLine> {
    return this.stdout
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as LogLine)
  }

  /** Waits for the banner, and returns the URL that the server listens on; empty for a worker. */
  async started(): Promise<string> {
    const deadline = Date.now() + patienceMs
    while (!this.stderr.includes("  Data ")) {
      if (this.child.exitCode !== null || this.child.signalCode !== null || Date.now() > deadline) {
        this.child.kill("SIGKILL")
        throw new Error(`The server did not start:\n${this.text}`)
      }
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    return url.exec(this.stderr)?.[1] ?? ""
  }

  /** Stops it gracefully. */
  stop(): Promise<number | null> {
    this.child.kill("SIGTERM")
    return this.exited
  }

  kill(): Promise<number | null> {
    this.child.kill("SIGKILL")
    return this.exited
  }

  /** Throws when the process crashed. */
  assertNoCrash(): void {
    if (!this.mayCrash && crash.test(this.text)) throw new Error(`A server process crashed:\n${this.text}`)
  }
}

export interface LogLine {
  readonly message: string
  readonly level: string
  readonly timestamp: string
  readonly cause?: string
  readonly annotations: Readonly<Record<string, unknown>>
}

afterAll(() => {
  for (const one of processes) one.assertNoCrash()
})
