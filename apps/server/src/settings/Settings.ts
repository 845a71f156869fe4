/** The settings of a process: read from environment variables, complete, and checked against each other. */
import { Environment } from "@govoice/ksef/client"
import { Context } from "effect"
import { type Definition, definitions, type Name, type Values } from "./definitions.ts"
import type { EnvironmentVariables } from "./EnvironmentVariables.ts"
import * as Parsers from "./Parsers.ts"
import { targetOf } from "./postgresUrl.ts"
import * as SecretFiles from "./SecretFiles.ts"

/** The settings of a process. */
export type SettingsShape = ReturnType<typeof read>

export class Settings extends Context.Service<Settings, SettingsShape>()("@govoice/server/settings/Settings") {}

/** The database of a process. */
export type DatabaseSettings =
  | {
      readonly _tag: "Postgres"
      readonly url: string
      /** How many connections serve requests, at most. Defaults to that of the setting. */
      readonly connections?: number | undefined
      /** Present when `url` is that of a pooler. `directUrl` is that of Postgres itself, if notifications are wanted. */
      readonly pooler?: { readonly directUrl: string | undefined } | undefined
      /** Of a replica that serves lists and statistics. */
      readonly replicaUrl?: string | undefined
    }
  | { readonly _tag: "Embedded"; readonly dataDir: string | undefined }

/** Lists everything that is wrong with the settings. `faults` has a sentence for each. */
export class InvalidSettings extends Error {
  readonly _tag = "InvalidSettings"
  readonly faults: ReadonlyArray<string>

  constructor(faults: ReadonlyArray<string>) {
    super(`Invalid settings:\n${faults.map((fault) => `  - ${fault}`).join("\n")}`)
    this.name = "InvalidSettings"
    this.faults = faults
  }
}

const readOne = <A>(
  name: string,
  { default: byDefault, parse }: Definition<A>,
  given: string | undefined,
  faults: Array<string>
): A => {
  if (given === undefined) return byDefault
  if (given === "") {
    faults.push(`${name} is empty. Set a value or remove it.`)
    return byDefault
  }
  try {
    return parse(given)
  } catch (error) {
    if (!(error instanceof Parsers.SettingFault)) throw error
    faults.push(`${name} ${error.message}.`)
    return byDefault
  }
}

/** Returns the environment variables that begin with `GOVOICE_` and are no settings: most likely typing mistakes. */
export const unknownNames = (env: EnvironmentVariables): ReadonlyArray<string> =>
  Object.keys(env).filter(
    (name) => name.startsWith("GOVOICE_") && !Object.hasOwn(definitions, name) && !SecretFiles.isVariable(name)
  )

/** Whether all but two characters at one place are the same, as after a letter that is wrong, missing, added or swapped. */
const isOneSlipFrom = (left: string, right: string): boolean => {
  const shorter = Math.min(left.length, right.length)
  let start = 0
  while (start < shorter && left[start] === right[start]) start++
  let end = 0
  while (end < shorter - start && left.at(-1 - end) === right.at(-1 - end)) end++
  return Math.max(left.length, right.length) - start - end <= 2
}

/** Returns the warning of a name that `unknownNames` found. */
export const unknownNameWarning = (name: string): string => {
  const meant = Object.keys(definitions).find((known) => isOneSlipFrom(name, known))
  const question = meant === undefined ? "" : ` Did you mean ${meant}?`
  return `${name} is not a setting of Govoice, and has no effect.${question}`
}

/** The remedy for faulty settings. */
export const settingsRemedy = "Run 'govoice settings' for every setting."

/** Reads single settings, and collects what is wrong with them. */
interface Reader {
  readonly value: <K extends Name>(name: K) => Values[K]
  readonly isGiven: (name: Name) => boolean
  readonly faults: Array<string>
}

const makeReader = (given: EnvironmentVariables): Reader => {
  const { env, faults: faultsOfFiles } = SecretFiles.resolve(given)
  const faults = [...faultsOfFiles]
  return {
    value: <K extends Name>(name: K): Values[K] =>
      readOne(
        env[name] === given[name] ? name : `${name}, from ${SecretFiles.variableOf(name)},`,
        definitions[name] as Definition<Values[K]>,
        env[name],
        faults
      ),
    isGiven: (name) => env[name] !== undefined || given[SecretFiles.variableOf(name)] !== undefined,
    faults
  }
}

const requiredWithPostgres = ["GOVOICE_JWT_SECRET", "GOVOICE_ENCRYPTION_KEYS"] as const

const ofPostgresAlone = [
  "GOVOICE_DATABASE_DIRECT_URL",
  "GOVOICE_DATABASE_POOLED",
  "GOVOICE_DATABASE_REPLICA_URL"
] as const

const readDatabase = ({ faults, isGiven, value }: Reader) => {
  const url = value("DATABASE_URL")
  const dataDir = value("GOVOICE_DATA_DIR")
  const jwtSecret = value("GOVOICE_JWT_SECRET")
  const encryptionKeys = value("GOVOICE_ENCRYPTION_KEYS")
  if (url !== undefined) {
    for (const name of requiredWithPostgres) {
      if (!isGiven(name)) faults.push(`${name} is required with DATABASE_URL. Run 'govoice keys generate'.`)
    }
  }

  const directUrl = value("GOVOICE_DATABASE_DIRECT_URL")
  const isPooled = value("GOVOICE_DATABASE_POOLED") ?? directUrl !== undefined
  const replicaUrl = value("GOVOICE_DATABASE_REPLICA_URL")
  if (!isGiven("DATABASE_URL")) {
    for (const name of ofPostgresAlone) if (isGiven(name)) faults.push(`${name} requires DATABASE_URL.`)
  }
  if (!isPooled && directUrl !== undefined) {
    faults.push("GOVOICE_DATABASE_DIRECT_URL requires GOVOICE_DATABASE_POOLED=true. Remove one of them.")
  }

  // Read for the embedded database, too, so that its faults are named.
  const connections = value("GOVOICE_DATABASE_CONNECTIONS")
  const database: DatabaseSettings =
    url === undefined
      ? { _tag: "Embedded", dataDir: dataDir === "memory" ? undefined : dataDir }
      : { _tag: "Postgres", url, connections, pooler: isPooled ? { directUrl } : undefined, replicaUrl }
  return { database, databaseWaitMs: value("GOVOICE_DATABASE_WAIT_MS"), jwtSecret, encryptionKeys }
}

const readCell = ({ faults, isGiven, value }: Reader) => {
  const name = value("GOVOICE_CELL")
  const controlUrl = value("GOVOICE_CONTROL_DATABASE_URL")
  const targetUrl = value("GOVOICE_TARGET_DATABASE_URL")
  if (isGiven("GOVOICE_CELL") && !isGiven("DATABASE_URL")) faults.push("GOVOICE_CELL requires DATABASE_URL.")
  for (const url of ["GOVOICE_CONTROL_DATABASE_URL", "GOVOICE_TARGET_DATABASE_URL"] as const) {
    if (isGiven(url) && !isGiven("GOVOICE_CELL")) faults.push(`${url} requires GOVOICE_CELL.`)
  }
  if (controlUrl !== undefined && !targetOf(controlUrl).isLocal && !controlUrl.includes("sslmode=")) {
    faults.push(
      "GOVOICE_CONTROL_DATABASE_URL must have an sslmode, such as sslmode=verify-full with sslrootcert: Postgres itself connects to it."
    )
  }
  if (name === undefined) return undefined
  return {
    name,
    /** The database of the control cell, where this is another one. */
    controlDatabase:
      controlUrl === undefined ? undefined : ({ _tag: "Postgres", url: controlUrl, connections: 2 } as const),
    /** The database of the cell to which a command moves organizations. */
    targetDatabase:
      targetUrl === undefined ? undefined : ({ _tag: "Postgres", url: targetUrl, connections: 1 } as const)
  }
}

const marginMs = 5000

const readDeliveries = ({ faults, value }: Reader) => {
  const givenTimeout = value("GOVOICE_WEBHOOK_TIMEOUT_MS")
  const givenLease = value("GOVOICE_LEASE_MS")
  const timeoutMs = givenTimeout ?? Math.max(100, Math.min(10_000, (givenLease ?? 30_000) - marginMs - 1))
  const leaseMs = givenLease ?? Math.max(30_000, timeoutMs + 2 * marginMs)
  if (leaseMs <= timeoutMs + marginMs) {
    faults.push(`GOVOICE_LEASE_MS must be longer than GOVOICE_WEBHOOK_TIMEOUT_MS plus ${marginMs}.`)
  }
  return {
    webhooks: {
      policy: {
        allowHttp: value("GOVOICE_WEBHOOK_ALLOW_HTTP"),
        allowNetworks: value("GOVOICE_WEBHOOK_ALLOW_NETWORKS"),
        denyNetworks: value("GOVOICE_WEBHOOK_DENY_NETWORKS")
      },
      proxy: value("GOVOICE_WEBHOOK_PROXY"),
      timeoutMs,
      retrySchedule: value("GOVOICE_RETRY_SCHEDULE_MS"),
      /** Null where endpoints that fail stay on. */
      disableAfterDays: value("GOVOICE_DISABLE_ENDPOINTS_AFTER_DAYS") || null
    },
    leaseMs,
    organizationConcurrency: value("GOVOICE_TENANT_CONCURRENCY"),
    workerConcurrency: value("GOVOICE_WORKER_CONCURRENCY")
  }
}

const readLive = ({ faults, isGiven, value }: Reader) => {
  const liveMode = value("GOVOICE_LIVE_MODE")
  const name = value("GOVOICE_KSEF_ENVIRONMENT")
  const custom = value("GOVOICE_KSEF_URL")
  if (isGiven("GOVOICE_KSEF_ENVIRONMENT") && isGiven("GOVOICE_KSEF_URL")) {
    faults.push("Set GOVOICE_KSEF_ENVIRONMENT or GOVOICE_KSEF_URL, not both.")
  }
  if (liveMode && !isGiven("GOVOICE_KSEF_ENVIRONMENT") && !isGiven("GOVOICE_KSEF_URL")) {
    faults.push("GOVOICE_LIVE_MODE=true requires GOVOICE_KSEF_ENVIRONMENT or GOVOICE_KSEF_URL.")
  }
  return {
    liveMode,
    ksef: {
      /** The environment of KSeF, also while live mode is off. Live mode requires it. */
      environment: custom ?? (name === undefined ? undefined : Environment.environments[name]),
      /** Names the environment in stored data: `test`, `demo`, `prod`, or the base URL of another. */
      environmentId: custom?.baseUrl ?? name,
      proxy: value("GOVOICE_KSEF_PROXY")
    }
  }
}

const readMail = ({ faults, isGiven, value }: Reader) => {
  const smtpUrl = value("GOVOICE_SMTP_URL")
  const from = value("GOVOICE_MAIL_FROM")
  const publicUrl = value("GOVOICE_PUBLIC_URL")
  if (isGiven("GOVOICE_SMTP_URL")) {
    for (const name of ["GOVOICE_MAIL_FROM", "GOVOICE_PUBLIC_URL"] as const) {
      if (!isGiven(name)) faults.push(`${name} is required with GOVOICE_SMTP_URL.`)
    }
  }
  if (smtpUrl === undefined) return undefined
  return { smtpUrl, from: from ?? "", publicUrl: (publicUrl ?? "").replace(/\/$/, "") }
}

const readProcess = ({ faults, isGiven, value }: Reader) => {
  const role = value("GOVOICE_ROLE")
  if (role !== "all" && !isGiven("DATABASE_URL")) {
    faults.push(
      `GOVOICE_ROLE=${role} requires DATABASE_URL: the embedded Postgres cannot be shared. Set DATABASE_URL, or remove GOVOICE_ROLE.`
    )
  }
  const port = value("PORT")
  const metricsPort = value("GOVOICE_METRICS_PORT")
  if (metricsPort !== undefined && metricsPort !== 0 && metricsPort === port) {
    faults.push("GOVOICE_METRICS_PORT must differ from PORT.")
  }
  return {
    http: { host: value("HOST"), port },
    role,
    metricsPort,
    otlpEndpoint: value("OTEL_EXPORTER_OTLP_ENDPOINT"),
    accessLog: value("GOVOICE_ACCESS_LOG"),
    logLevel: value("GOVOICE_LOG_LEVEL")
  }
}

const readLimits = ({ value }: Reader) => {
  const accountPerSecond = value("GOVOICE_ACCOUNT_RATE_LIMIT_PER_SECOND")
  return {
    rateLimit: {
      perSecond: value("GOVOICE_RATE_LIMIT_PER_SECOND"),
      burst: value("GOVOICE_RATE_LIMIT_BURST"),
      bytesPerSecond: value("GOVOICE_RATE_LIMIT_BYTES_PER_SECOND"),
      account: { perSecond: accountPerSecond, burst: 10 * accountPerSecond }
    },
    trustedProxies: value("GOVOICE_TRUSTED_PROXIES"),
    connectionsPerAddress: value("GOVOICE_CONNECTIONS_PER_ADDRESS"),
    redisUrl: value("REDIS_URL")
  }
}

const readService = ({ value }: Reader) => ({
  apiEnabled: value("GOVOICE_API_ENABLED"),
  consoleEnabled: value("GOVOICE_CONSOLE") === "on",
  documentChecks: value("GOVOICE_DOCUMENT_CHECKS"),
  signupOpen: value("GOVOICE_SIGNUP") === "open",
  sandboxStepMs: value("GOVOICE_SANDBOX_STEP_MS"),
  eventRetentionDays: value("GOVOICE_EVENT_RETENTION_DAYS")
})

/**
 * Reads the settings from environment variables, and from the files of secrets that they name.
 *
 * @throws {InvalidSettings} with all faults.
 */
export const read = (given: EnvironmentVariables) => {
  const reader = makeReader(given)
  const settings = {
    ...readDatabase(reader),
    /** Present in a deployment of several cells. */
    cell: readCell(reader),
    ...readDeliveries(reader),
    ...readLive(reader),
    /** Present when mails are sent. */
    mail: readMail(reader),
    ...readProcess(reader),
    ...readLimits(reader),
    ...readService(reader)
  }
  if (reader.faults.length > 0) throw new InvalidSettings(reader.faults)
  return settings
}
