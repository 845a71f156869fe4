/**
 * The options of a simulator, their defaults and checks.
 */
import { Nip } from "@govoice/ksef/format"
import type { Fault } from "./faults/Fault.ts"
import { parseFault } from "./faults/parseFault.ts"

/** How a simulator is started. Every member has a default. */
export interface SimulatorOptions {
  /** The port to listen on. Defaults to 0: one that is free. */
  readonly port?: number
  /** The address to listen on. Defaults to `127.0.0.1`. */
  readonly host?: string
  /** The NIP of the first context. Defaults to a random one with the right checksum. */
  readonly nip?: string
  /** The KSeF token of the first context. Defaults to a new one. */
  readonly token?: string
  /** Divides every lifetime and every window of the limits: at 60, an hour is a minute. Defaults to 1. */
  readonly speed?: number
  /** A file that keeps everything across restarts. Defaults to none: all ends with the simulator. */
  readonly state?: string
  /**
   * Decides all numbers that are drawn: NIP, token, references, KSeF numbers, and what faults pick by probability. Defaults to
   * a random one. A state that exists keeps its own.
   */
  readonly seed?: string
  /**
   * Which environment is played. `test`, the default, takes certificates that anybody signed and has `/testdata`; `demo`
   * and `prod` take those of the simulator's authority and check the checksums of all NIPs.
   */
  readonly environment?: "test" | "demo" | "prod"
  /** Whether calls are limited, as `production`, the default, has it. */
  readonly limits?: "production" | "off"
  /** How long a login, a token or a document is processed, in milliseconds. Defaults to 200. */
  readonly processingMs?: number
  /**
   * The name of the Ministry in UPOs. `schema`, the default, is the plain name, which is the only one that the schema
   * allows; `environment` adds the suffix that the test and demo environments of KSeF add.
   */
  readonly upoName?: "schema" | "environment"
  /** Faults to begin with. */
  readonly faults?: ReadonlyArray<Fault>
  /** The source of time, in milliseconds since the epoch. Defaults to `Date.now`. */
  readonly now?: () => number
}

/** Options with their defaults. */
export interface ResolvedOptions {
  readonly port: number
  readonly host: string
  readonly nip: string | undefined
  readonly token: string | undefined
  readonly speed: number
  readonly state: string | undefined
  readonly seed: string | undefined
  readonly environment: "test" | "demo" | "prod"
  readonly limits: "production" | "off"
  readonly processingMs: number
  readonly upoName: "schema" | "environment"
  readonly faults: ReadonlyArray<Fault>
  readonly now: () => number
}

const assertThat = (holds: boolean, name: string, expected: string, found: unknown): void => {
  if (!holds) throw new TypeError(`Expected ${name} to be ${expected}, got ${JSON.stringify(found)}.`)
}

const isFinite = (value: number, least: number, most: number): boolean => value >= least && value <= most

/**
 * Fills in the defaults.
 *
 * @throws {TypeError} that names the option that is wrong.
 */
export const resolveOptions = (given: SimulatorOptions): ResolvedOptions => {
  const resolved: ResolvedOptions = {
    port: given.port ?? 0,
    host: given.host ?? "127.0.0.1",
    nip: given.nip,
    token: given.token,
    speed: given.speed ?? 1,
    state: given.state,
    seed: given.seed,
    environment: given.environment ?? "test",
    limits: given.limits ?? "production",
    processingMs: given.processingMs ?? 200,
    upoName: given.upoName ?? "schema",
    faults: (given.faults ?? []).map(parseFault),
    now: given.now ?? Date.now
  }
  const { environment, limits, nip, port, processingMs, speed, token, upoName } = resolved
  assertThat(Number.isInteger(port) && isFinite(port, 0, 65_535), "port", "a number from 0 to 65535", port)
  assertThat(nip === undefined || Nip.isValid(nip), "nip", "ten digits with the right checksum, as 5265877635", nip)
  assertThat(
    token === undefined || (/^[\x21-\x7e]{1,160}$/.test(token) && !token.includes("\n")),
    "token",
    "at most 160 printable ASCII characters without spaces",
    token === undefined ? token : "another text"
  )
  const ofToken = /\|nip-(\d{10})\|/.exec(token ?? "")?.[1]
  assertThat(
    nip === undefined || ofToken === undefined || nip === ofToken,
    "nip",
    `the NIP that the token names, ${ofToken}`,
    nip
  )
  assertThat(isFinite(speed, 0.001, 1_000_000), "speed", "a number from 0.001 to 1000000", speed)
  assertThat(
    isFinite(processingMs, 0, 86_400_000),
    "processingMs",
    "milliseconds from 0 to a day (86400000)",
    processingMs
  )
  assertThat(["test", "demo", "prod"].includes(environment), "environment", '"test", "demo" or "prod"', environment)
  assertThat(["production", "off"].includes(limits), "limits", '"production" or "off"', limits)
  assertThat(["schema", "environment"].includes(upoName), "upoName", '"schema" or "environment"', upoName)
  return resolved
}
