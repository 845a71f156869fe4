/**
 * The command: starts a simulator, and prints one line of JSON that says how to reach it.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { parseArgs } from "node:util"
import { parseFault } from "./faults/parseFault.ts"
import type { SimulatorOptions } from "./options.ts"
import { type Simulator, startSimulator } from "./startSimulator.ts"

const usage = `Usage: govoice-ksef-simulator [options]

Starts a local KSeF 2.0 and prints one line of JSON: base URL, token, NIP, paths of a certificate and its key.

  --port <number>          listen on this port (0: one that is free)
  --host <address>         listen on this address (127.0.0.1)
  --nip <digits>           the NIP of the context (a random one)
  --token <token>          the KSeF token of the context (a new one)
  --certificate <folder>   write certificate.pem and private-key.pem there, or use those that are there
  --speed <factor>         divide all lifetimes and windows by this (1)
  --state <file>           keep everything in this file across restarts
  --seed <text>            decide the numbers that are drawn, and what faults pick
  --environment <name>     test, demo or prod (test)
  --limits <name>          production or off (production)
  --processing <ms>        how long documents and logins are processed (200)
  --upo-name <name>        schema or environment: the Ministry's name in UPOs (schema)
  --fault <json>           begin with this fault; can be given more than once
  --help                   print this
  --version                print the version
`

const options = {
  port: { type: "string" },
  host: { type: "string" },
  nip: { type: "string" },
  token: { type: "string" },
  certificate: { type: "string" },
  speed: { type: "string" },
  state: { type: "string" },
  seed: { type: "string" },
  environment: { type: "string" },
  limits: { type: "string" },
  processing: { type: "string" },
  "upo-name": { type: "string" },
  fault: { type: "string", multiple: true },
  help: { type: "boolean" },
  version: { type: "boolean" }
} as const

type Values = ReturnType<typeof parseArgs<{ readonly options: typeof options }>>["values"]

const number = (name: string, text: string | undefined): number | undefined => {
  if (text === undefined) return undefined
  const value = text.trim() === "" ? Number.NaN : Number(text)
  if (Number.isNaN(value)) throw new TypeError(`Expected --${name} to be a number, got "${text}".`)
  return value
}

const faultOf = (text: string) => {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new TypeError(`Expected --fault to be JSON, as '{"do":"drop-after","on":"sendInvoice"}', got "${text}".`)
  }
  return parseFault(value)
}

const given = (members: Readonly<Record<string, unknown>>): SimulatorOptions =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as SimulatorOptions

const optionsOf = (values: Values): SimulatorOptions =>
  given({
    port: number("port", values.port),
    host: values.host,
    nip: values.nip,
    token: values.token,
    speed: number("speed", values.speed),
    state: values.state === undefined ? undefined : resolve(values.state),
    seed: values.seed,
    environment: values.environment,
    limits: values.limits,
    processingMs: number("processing", values.processing),
    upoName: values["upo-name"],
    faults: values.fault?.map(faultOf)
  })

interface Written {
  readonly certificate: string
  readonly privateKey: string
  readonly remove: () => void
}

// A folder that was named keeps its files; one that was not goes with the simulator.
const writeCertificate = (simulator: Simulator, named: string | undefined): Written => {
  const folder = named === undefined ? mkdtempSync(join(tmpdir(), "ksef-certificate-")) : resolve(named)
  mkdirSync(folder, { recursive: true })
  const certificate = join(folder, "certificate.pem")
  const privateKey = join(folder, "private-key.pem")
  try {
    writeFileSync(certificate, simulator.certificate.certificate, { flag: "wx" })
    writeFileSync(privateKey, simulator.certificate.privateKey, { flag: "wx", mode: 0o600 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error
  }
  return {
    certificate,
    privateKey,
    remove: () => {
      if (named === undefined) rmSync(folder, { recursive: true, force: true })
    }
  }
}

const version = (): string =>
  (JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { readonly version: string })
    .version

const serve = async (values: Values): Promise<void> => {
  const simulator = await startSimulator(optionsOf(values))
  const { certificate, privateKey, remove } = writeCertificate(simulator, values.certificate)
  const { beaconUrl, nip, pageUrl, seed, token, url } = simulator
  process.stdout.write(
    `${JSON.stringify({ url, token, certificate, privateKey, nip, beacon: beaconUrl, page: pageUrl, seed })}\n`
  )
  const stop = (): void => {
    void simulator.close().then(() => {
      remove()
      process.exit(0)
    })
  }
  process.once("SIGINT", stop)
  process.once("SIGTERM", stop)
}

const reasonOf = (error: unknown): string => {
  const { code, message, port } = error as NodeJS.ErrnoException & { readonly port?: number }
  return code === "EADDRINUSE" ? `Port ${port} is in use. --port 0 picks a free one.` : message
}

/** Runs the command with the arguments of the process. */
export const main = async (): Promise<void> => {
  try {
    const { values } = parseArgs({ options })
    if (values.help === true) process.stdout.write(usage)
    else if (values.version === true) process.stdout.write(`${version()}\n`)
    else await serve(values)
  } catch (error) {
    const isMisuse = error instanceof TypeError
    process.stderr.write(`${reasonOf(error)}\n`)
    if (isMisuse) process.stderr.write("Run govoice-ksef-simulator --help for the options.\n")
    process.exitCode = isMisuse ? 2 : 1
  }
}
