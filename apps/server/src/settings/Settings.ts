/**
 * Everything that a deployment decides, in one table.
 *
 * Nothing else reads the environment. The reference page is printed from the table.
 *
 * @since 0.1.0
 */
import { RetrySchedule } from "@govoice/core"
import { Context } from "effect"
import * as Parsers from "./Parsers.ts"

interface Definition<A> {
  /** What it decides, as a sentence of the reference page. */
  readonly about: string
  readonly parse: Parsers.Parser<A>
  /** The default, or how it is found when it depends on something. */
  readonly default: A
  readonly defaultAbout?: string
  /** A secret is never printed. */
  readonly secret?: true
}

const define = <A>(
  about: string,
  parse: Parsers.Parser<A>,
  byDefault: A,
  more: Omit<Definition<A>, "about" | "parse" | "default"> = {}
): Definition<A> => ({ about, parse, default: byDefault, ...more })

const absent = undefined

/**
 * The table of settings, by environment variable.
 *
 * @category constants
 * @since 0.1.0
 */
export const definitions = {
  PORT: define("The port that the API listens on; 0 takes a free one.", Parsers.integer(0, 65_535), 3000),
  HOST: define("The address that the API and the metrics listen on.", Parsers.text, "127.0.0.1"),
  DATABASE_URL: define<string | undefined>(
    "The Postgres database. Without it, an embedded Postgres keeps its data in GOVOICE_DATA_DIR.",
    Parsers.url("postgres", "postgresql"),
    absent,
    { defaultAbout: "embedded", secret: true }
  ),
  GOVOICE_DATA_DIR: define(
    "Where the embedded Postgres and its secrets live; `memory` keeps nothing.",
    Parsers.text,
    ".govoice"
  ),
  GOVOICE_ROLE: define(
    "What this process does: serve the API, run the workers, or both.",
    Parsers.oneOf("all", "api", "worker"),
    "all"
  ),
  GOVOICE_API_ENABLED: define("Whether `/v1` is served; if not, it answers api_disabled.", Parsers.boolean, true),
  GOVOICE_LIVE_MODE: define("Whether live keys may submit, where a live gateway is installed.", Parsers.boolean, false),
  GOVOICE_SIGNUP: define("Whether anybody may create an account.", Parsers.oneOf("open", "closed"), "open"),
  GOVOICE_JWT_SECRET: define<string | undefined>(
    "Signs access tokens and list cursors. Required with DATABASE_URL.",
    Parsers.secret(32),
    absent,
    { defaultAbout: "made and kept in the data directory", secret: true }
  ),
  GOVOICE_ENCRYPTION_KEYS: define<ReadonlyArray<Parsers.EncryptionKey> | undefined>(
    "Encrypt signing secrets and credentials at rest: `id:base64,…`, 32 bytes each. The first encrypts, all decrypt. Required with DATABASE_URL.",
    Parsers.encryptionKeys,
    absent,
    { defaultAbout: "made and kept in the data directory", secret: true }
  ),
  GOVOICE_SANDBOX_STEP_MS: define(
    "How long one step of a sandbox scenario takes.",
    Parsers.integer(1, 3_600_000),
    1000
  ),
  GOVOICE_WEBHOOK_ALLOW_HTTP: define("Whether webhooks may go to http URLs.", Parsers.boolean, false),
  GOVOICE_WEBHOOK_ALLOW_NETWORKS: define<ReadonlyArray<string>>(
    "Networks that webhooks may reach although the guard refuses them, as CIDRs separated by commas.",
    Parsers.list(Parsers.network),
    [],
    { defaultAbout: "none" }
  ),
  GOVOICE_WEBHOOK_TIMEOUT_MS: define<number | undefined>(
    "The deadline of one webhook attempt, from name lookup to response head.",
    Parsers.integer(100, 600_000),
    absent,
    { defaultAbout: "10000, or GOVOICE_LEASE_MS less 5000 when that is shorter" }
  ),
  GOVOICE_LEASE_MS: define<number | undefined>(
    "How long a worker may hold a delivery or an invoice before another takes it over. Must be longer than the webhook deadline plus 5000.",
    Parsers.integer(1000, 3_600_000),
    absent,
    { defaultAbout: "30000, or more when the webhook deadline needs it" }
  ),
  GOVOICE_RETRY_SCHEDULE_MS: define(
    "The waits between the attempts of a delivery, separated by commas. There is one attempt more than there are waits.",
    Parsers.list(Parsers.integer(1, 30 * 86_400_000)),
    RetrySchedule.defaultWaits,
    { defaultAbout: RetrySchedule.defaultWaits.join(",") }
  ),
  GOVOICE_TENANT_CONCURRENCY: define(
    "How many deliveries of one organization may be in flight, over all workers.",
    Parsers.integer(1, 10_000),
    10
  ),
  GOVOICE_WORKER_CONCURRENCY: define("How many deliveries one worker has in flight.", Parsers.integer(1, 10_000), 500),
  GOVOICE_RATE_LIMIT_PER_SECOND: define(
    "Requests a second that an API key may make.",
    Parsers.integer(1, 1_000_000),
    100
  ),
  GOVOICE_RATE_LIMIT_BURST: define("Requests that an API key may make at once.", Parsers.integer(1, 1_000_000), 200),
  REDIS_URL: define<string | undefined>(
    "A Redis that keeps the rate limits for all processes together. Without it, each process counts for itself.",
    Parsers.url("redis", "rediss"),
    absent,
    { defaultAbout: "none", secret: true }
  ),
  GOVOICE_METRICS_PORT: define<number | undefined>(
    "The port that `/metrics` is served on, on HOST; 0 takes a free one. Without it, there are no metrics to read.",
    Parsers.integer(0, 65_535),
    absent,
    { defaultAbout: "none" }
  ),
  GOVOICE_EVENT_RETENTION_DAYS: define(
    "How long events and their deliveries are kept once they are finished.",
    Parsers.integer(1, 36_500),
    90
  ),
  GOVOICE_IDEMPOTENCY_RETENTION_DAYS: define(
    "How long an idempotency key is remembered, once its invoice is finished.",
    Parsers.integer(30, 36_500),
    30
  ),
  OTEL_EXPORTER_OTLP_ENDPOINT: define<string | undefined>(
    "Where traces are sent to, as OTLP over HTTP; `/v1/traces` is added.",
    Parsers.url("http", "https"),
    absent,
    { defaultAbout: "no traces" }
  ),
  GOVOICE_LOG_LEVEL: define(
    "What is logged: this and whatever is worse.",
    Parsers.oneOf("Trace", "Debug", "Info", "Warn", "Error"),
    "Info"
  )
} as const

type Definitions = typeof definitions
type ValueOf<D> = D extends Definition<infer A> ? A : never

/**
 * The value of every setting as it was given or defaulted, by environment variable.
 *
 * @category models
 * @since 0.1.0
 */
export type Values = { readonly [K in keyof Definitions]: ValueOf<Definitions[K]> }

/**
 * The settings of this process, complete and checked against each other.
 *
 * @category models
 * @since 0.1.0
 */
export interface SettingsShape {
  readonly http: { readonly host: string; readonly port: number }
  readonly database:
    | { readonly _tag: "Postgres"; readonly url: string }
    | { readonly _tag: "Embedded"; readonly dataDir: string | undefined }
  readonly role: "all" | "api" | "worker"
  readonly apiEnabled: boolean
  readonly liveMode: boolean
  readonly signupOpen: boolean
  readonly jwtSecret: string | undefined
  readonly encryptionKeys: ReadonlyArray<Parsers.EncryptionKey> | undefined
  readonly sandboxStepMs: number
  readonly webhooks: {
    readonly allowHttp: boolean
    readonly allowNetworks: ReadonlyArray<string>
    readonly timeoutMs: number
    readonly waits: ReadonlyArray<number>
  }
  readonly leaseMs: number
  readonly tenantConcurrency: number
  readonly workerConcurrency: number
  readonly rateLimit: { readonly perSecond: number; readonly burst: number }
  readonly redisUrl: string | undefined
  readonly metricsPort: number | undefined
  readonly eventRetentionDays: number
  readonly idempotencyRetentionDays: number
  readonly otlpEndpoint: string | undefined
  readonly logLevel: Values["GOVOICE_LOG_LEVEL"]
}

/**
 * Service with the settings of this process.
 *
 * @category services
 * @since 0.1.0
 */
export class Settings extends Context.Service<Settings, SettingsShape>()("@govoice/server/settings/Settings") {}

/**
 * Everything that is wrong with the settings, a line each.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidSettings extends Error {
  readonly _tag = "InvalidSettings"
  readonly faults: ReadonlyArray<string>

  constructor(faults: ReadonlyArray<string>) {
    super(`The settings cannot be used:\n${faults.map((fault) => `  - ${fault}`).join("\n")}`)
    this.name = "InvalidSettings"
    this.faults = faults
  }
}

type Environment = Readonly<Record<string, string | undefined>>

const readOne = <A>(
  name: string,
  { default: byDefault, parse }: Definition<A>,
  given: string | undefined,
  faults: Array<string>
): A => {
  if (given === undefined || given === "") return byDefault
  try {
    return parse(given)
  } catch (error) {
    if (!(error instanceof Parsers.SettingFault)) throw error
    faults.push(`${name} ${error.message}.`)
    return byDefault
  }
}

/**
 * The environment variables that look like settings of ours and are none: most likely typing mistakes.
 *
 * @category getters
 * @since 0.1.0
 */
export const unknownNames = (environment: Environment): ReadonlyArray<string> =>
  Object.keys(environment).filter((name) => name.startsWith("GOVOICE_") && !Object.hasOwn(definitions, name))

const marginMs = 5000

/**
 * Reads the settings from an environment.
 *
 * @throws {InvalidSettings} with every fault there is.
 * @category constructors
 * @since 0.1.0
 */
export const read = (environment: Environment): SettingsShape => {
  const faults: Array<string> = []
  const value = <K extends keyof Definitions>(name: K): Values[K] =>
    readOne(name, definitions[name] as Definition<Values[K]>, environment[name], faults)

  const url = value("DATABASE_URL")
  const dataDir = value("GOVOICE_DATA_DIR")
  const jwtSecret = value("GOVOICE_JWT_SECRET")
  const encryptionKeys = value("GOVOICE_ENCRYPTION_KEYS")
  if (url !== undefined) {
    for (const name of ["GOVOICE_JWT_SECRET", "GOVOICE_ENCRYPTION_KEYS"]) {
      if (!environment[name]) faults.push(`${name} is required with DATABASE_URL.`)
    }
  }

  const givenTimeout = value("GOVOICE_WEBHOOK_TIMEOUT_MS")
  const givenLease = value("GOVOICE_LEASE_MS")
  const timeoutMs = givenTimeout ?? Math.max(100, Math.min(10_000, (givenLease ?? 30_000) - marginMs - 1))
  const leaseMs = givenLease ?? Math.max(30_000, timeoutMs + 2 * marginMs)
  if (leaseMs <= timeoutMs + marginMs) {
    faults.push(`GOVOICE_LEASE_MS must be longer than GOVOICE_WEBHOOK_TIMEOUT_MS plus ${marginMs}.`)
  }

  const port = value("PORT")
  const metricsPort = value("GOVOICE_METRICS_PORT")
  if (metricsPort !== undefined && metricsPort !== 0 && metricsPort === port) {
    faults.push("GOVOICE_METRICS_PORT must be another port than PORT.")
  }

  const settings: SettingsShape = {
    http: { host: value("HOST"), port },
    database:
      url === undefined
        ? { _tag: "Embedded", dataDir: dataDir === "memory" ? undefined : dataDir }
        : { _tag: "Postgres", url },
    role: value("GOVOICE_ROLE"),
    apiEnabled: value("GOVOICE_API_ENABLED"),
    liveMode: value("GOVOICE_LIVE_MODE"),
    signupOpen: value("GOVOICE_SIGNUP") === "open",
    jwtSecret,
    encryptionKeys,
    sandboxStepMs: value("GOVOICE_SANDBOX_STEP_MS"),
    webhooks: {
      allowHttp: value("GOVOICE_WEBHOOK_ALLOW_HTTP"),
      allowNetworks: value("GOVOICE_WEBHOOK_ALLOW_NETWORKS"),
      timeoutMs,
      waits: value("GOVOICE_RETRY_SCHEDULE_MS")
    },
    leaseMs,
    tenantConcurrency: value("GOVOICE_TENANT_CONCURRENCY"),
    workerConcurrency: value("GOVOICE_WORKER_CONCURRENCY"),
    rateLimit: { perSecond: value("GOVOICE_RATE_LIMIT_PER_SECOND"), burst: value("GOVOICE_RATE_LIMIT_BURST") },
    redisUrl: value("REDIS_URL"),
    metricsPort,
    eventRetentionDays: value("GOVOICE_EVENT_RETENTION_DAYS"),
    idempotencyRetentionDays: value("GOVOICE_IDEMPOTENCY_RETENTION_DAYS"),
    otlpEndpoint: value("OTEL_EXPORTER_OTLP_ENDPOINT"),
    logLevel: value("GOVOICE_LOG_LEVEL")
  }
  if (faults.length > 0) throw new InvalidSettings(faults)
  return settings
}
