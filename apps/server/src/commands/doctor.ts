/**
 * `govoice doctor`: checks a deployment, and says how to correct what is wrong. Changes nothing. Its only request asks KSeF for
 * the time, where an environment is set.
 */
import { Clock, Console, Context, Effect, Layer, Option } from "effect"
import type { EnvironmentVariables } from "../settings/EnvironmentVariables.ts"
import { CommandFailure } from "./CommandFailure.ts"
import { checkRuntime, fault, type Finding, ok, warning } from "./Finding.ts"
import {
  InvalidSettings,
  read,
  settingsRemedy,
  type SettingsShape,
  unknownNames,
  unknownNameWarning
} from "../settings/Settings.ts"
import { createServer, isIP } from "node:net"
import { listenRemedy } from "../runtime/StartupError.ts"
import { PolishTime } from "@govoice/ksef/format"
import { judgeAddress, judgeUrl, resolveWithDns } from "@govoice/dispatcher"
import { Redis } from "effect/persistence"
import { SqlClient, type SqlError } from "effect/sql"
import { join } from "node:path"
import * as KeyRing from "../crypto/KeyRing.ts"
import { maxConnections } from "../database/Database.ts"
import * as EmbeddedPostgres from "../database/EmbeddedPostgres.ts"
import * as Migrations from "../database/Migrations.ts"
import * as RedisClient from "../database/RedisClient.ts"
import * as PostgresClient from "../database/PostgresClient.ts"
import * as Replica from "../database/Replica.ts"
import * as SessionCheck from "../database/SessionCheck.ts"
import { applicationName } from "../database/sessionParameters.ts"
import { connections as workerConnections } from "../database/WorkerDbClient.ts"
import { reasonOf } from "../observability/reasonOf.ts"
import * as KeyCheck from "../maintenance/KeyCheck.ts"
import * as DataDirectory from "../settings/DataDirectory.ts"
import { targetOf } from "../settings/postgresUrl.ts"
import * as deployment from "./deployment.ts"
import * as Partitions from "../database/Partitions.ts"
import { metricName } from "../http/middleware/ProxyWarning.ts"
import { broadNetworks } from "../settings/trustedProxies.ts"
import * as GatewayCredentials from "../invoices/ksef/GatewayCredentials.ts"
import { tokensToldFrom, tokensUntil } from "../invoices/ksef/notices.sql.ts"
import * as OfflineCertificates from "../invoices/ksef/OfflineCertificates.ts"
import * as LaneOverview from "../invoices/ksef/LaneOverview.ts"
import * as ksef from "./ksef.ts"
import { isLoopback } from "../settings/loopback.ts"
import * as doctorCells from "./doctorCells.ts"
import * as doctorProduction from "./doctorProduction.ts"

const mark = { ok: "ok  ", warning: "WARN", fault: "FAIL" } as const

const print = ({ check, level, message, remedy }: Finding): string =>
  [
    `${mark[level]}  ${check.padEnd(9)}  ${message}`,
    ...(remedy === undefined ? [] : [`${" ".repeat(17)}${remedy}`])
  ].join("\n")

const examine = Effect.fnUntraced(function* (
  env: EnvironmentVariables,
  { production, url }: { readonly production: boolean; readonly url: string | undefined }
) {
  const { findings, settings } = checkSettings(env, production)
  const all: Array<Finding> = [...checkRuntime(), ...findings]
  if (settings === undefined) return all
  all.push(...(yield* checkListening(settings)), ...(yield* checkProxies(settings)))
  if (production) all.push(...(yield* doctorProduction.checkDeployment(settings)))
  all.push(...(yield* checkDatabase(settings, production)), ...checkPolicy(settings.webhooks))
  all.push(...(yield* checkRedis(settings)))
  all.push(...(yield* checkEnvironment(settings)))
  if (url !== undefined) all.push(yield* checkUrl(settings.webhooks, url))
  return all
})

/** Prints the findings. Fails when one of them is a fault. */
export const diagnose = Effect.fnUntraced(function* (
  env: EnvironmentVariables,
  {
    json,
    production,
    url
  }: { readonly json: boolean; readonly production: boolean; readonly url: Option.Option<string> }
) {
  const findings = yield* examine(env, { production, url: Option.getOrUndefined(url) })
  yield* Console.log(json ? JSON.stringify(findings, null, 2) : findings.map(print).join("\n"))
  const faults = findings.filter(({ level }) => level === "fault").length
  if (faults > 0) return yield* new CommandFailure({ message: `${faults} of ${findings.length} checks failed.` })
})

const warnings = (settings: SettingsShape, production: boolean): ReadonlyArray<Finding> => [
  ...(settings.database._tag === "Embedded" && settings.database.dataDir === undefined
    ? [warning("settings", "GOVOICE_DATA_DIR is memory: all data is lost when the server stops.")]
    : []),
  ...(settings.signupOpen && !isLoopback(settings.http.host) && !production
    ? [
        warning(
          "settings",
          "Anybody who can reach the API can create an account.",
          "Set GOVOICE_SIGNUP=closed, and create accounts with 'govoice account create'."
        )
      ]
    : []),
  ...(settings.apiEnabled
    ? []
    : [warning("settings", "GOVOICE_API_ENABLED is false: every request to /v1 is answered with api_disabled.")])
]

/** Reads the settings. They are absent when they have faults. */
export const checkSettings = (
  env: EnvironmentVariables,
  production = false
): { readonly settings?: SettingsShape; readonly findings: ReadonlyArray<Finding> } => {
  const unknown = unknownNames(env).map((name) => warning("settings", unknownNameWarning(name), settingsRemedy))
  try {
    const settings = read(env)
    return {
      settings,
      findings: [ok("settings", `valid; role ${settings.role}`), ...unknown, ...warnings(settings, production)]
    }
  } catch (error) {
    if (!(error instanceof InvalidSettings)) throw error
    return { findings: [...error.faults.map((message) => fault("settings", message, settingsRemedy)), ...unknown] }
  }
}

// An address of this machine, where a server listens on all of its addresses.
const hostOf = (host: string): string => {
  if (host === "0.0.0.0") return "127.0.0.1"
  return isIP(host) === 6 ? `[${host === "::" ? "::1" : host}]` : host
}

const isGovoice = async (host: string, port: number): Promise<boolean> => {
  const url = `http://${hostOf(host)}:${port}/healthz`
  try {
    return (
      (await (await fetch(url, { redirect: "error", signal: AbortSignal.timeout(5000) })).text()) === '{"status":"ok"}'
    )
  } catch {
    return false
  }
}

const takenBy = async (host: string, port: number, error: NodeJS.ErrnoException): Promise<Finding> =>
  (await isGovoice(host, port))
    ? ok("listen", `a server of Govoice listens at ${host}:${port}`)
    : warning("listen", `Another process listens at ${host}:${port}.`, listenRemedy(error))

const listen = (host: string, port: number): Effect.Effect<Finding> =>
  Effect.callback((resume) => {
    const server = createServer()
    server.once("error", (error: NodeJS.ErrnoException) =>
      resume(
        error.code === "EADDRINUSE"
          ? Effect.promise(() => takenBy(host, port, error))
          : Effect.succeed(fault("listen", `The server cannot listen: ${error.message}.`, listenRemedy(error)))
      )
    )
    server.listen({ host, port, exclusive: true }, () =>
      server.close(() => resume(Effect.succeed(ok("listen", `${host}:${port} is free`))))
    )
  })

/** Listens at each address for a moment. A port that the server would pick is not checked. */
export const checkListening = ({
  http,
  metricsPort,
  role
}: Pick<SettingsShape, "http" | "metricsPort" | "role">): Effect.Effect<ReadonlyArray<Finding>> =>
  Effect.forEach(
    [...(role === "worker" ? [] : [http.port]), metricsPort ?? 0].filter((port) => port !== 0),
    (port) => listen(http.host, port)
  )

type Webhooks = SettingsShape["webhooks"]

const internalAddresses: Readonly<Record<string, string>> = {
  "127.0.0.1": "this machine",
  "::1": "this machine",
  "10.0.0.1": "private networks",
  "172.16.0.1": "private networks",
  "192.168.0.1": "private networks",
  "fd00::1": "private networks",
  "100.64.0.1": "carrier networks",
  "169.254.0.1": "link-local networks",
  "169.254.169.254": "the metadata service of clouds"
}

/** Judges internal addresses by the policy of the settings. */
export const checkPolicy = ({ policy }: Webhooks): ReadonlyArray<Finding> => {
  const { allowHttp, allowNetworks } = policy
  const reachable = Object.keys(internalAddresses).filter((address) => judgeAddress(address, policy).ok)
  const named = new Set(reachable.map((address) => internalAddresses[address]))
  return [
    reachable.length === 0
      ? ok("guard", "refuses loopback, private, link-local and metadata addresses")
      : warning(
          "guard",
          `GOVOICE_WEBHOOK_ALLOW_NETWORKS lets webhooks reach ${[...named].join(", ")}.`,
          "Leave it unset where customers choose the URLs."
        ),
    ...(allowNetworks.length > 0 && reachable.length === 0
      ? [warning("guard", `GOVOICE_WEBHOOK_ALLOW_NETWORKS allows ${allowNetworks.join(", ")}.`)]
      : []),
    ...(allowHttp
      ? [
          warning(
            "guard",
            "GOVOICE_WEBHOOK_ALLOW_HTTP lets webhooks be sent unencrypted.",
            "Leave it unset in production."
          )
        ]
      : [])
  ]
}

const unresolved = (error: unknown): string =>
  error instanceof Error && "code" in error
    ? `The name cannot be resolved (${String(error.code)}).`
    : "The name cannot be resolved."

const checkName = "Check the name, and the DNS of this machine."

const judge = async ({ policy }: Webhooks, text: string): Promise<Finding> => {
  const url = judgeUrl(text, policy)
  if (!url.ok) return fault("url", `refused by the rule '${url.rule}'`, "The API answers unsafe_webhook_url for it.")

  const host = new URL(text).hostname
  if (host.startsWith("[") || /^[\d.]+$/.test(host)) return ok("url", "allowed")
  try {
    const addresses = await resolveWithDns()(host, { signal: AbortSignal.timeout(5000) })
    const refused = addresses.flatMap((address) => {
      const verdict = judgeAddress(address, policy)
      return verdict.ok ? [] : [`${address} ('${verdict.rule}')`]
    })
    if (addresses.length === 0) return fault("url", "The name has no addresses.", checkName)
    return refused.length === 0
      ? ok("url", `allowed, at ${addresses.join(", ")}`)
      : fault(
          "url",
          `refused at ${refused.join(", ")}`,
          "One refused address is enough. Correct the DNS of the receiver."
        )
  } catch (error) {
    return fault("url", unresolved(error), checkName)
  }
}

/** Judges a URL and the addresses of its name. Sends nothing. */
export const checkUrl = (webhooks: Webhooks, url: string): Effect.Effect<Finding> =>
  Effect.promise(() => judge(webhooks, url))

// Statements are written for it, and every test runs on it.
const testedVersion = 18

const maxClockOffsetMs = 1000

const checkVersion = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly number: number }>`SELECT current_setting('server_version_num')::int AS number`
  const major = Math.floor((row?.number ?? 0) / 10_000)
  return major >= testedVersion
    ? ok("database", `reachable; Postgres ${major}`)
    : warning(
        "database",
        `reachable; Postgres ${major}. Govoice is tested on Postgres ${testedVersion}.`,
        "Prefer a newer Postgres."
      )
})

const checkTls = ({ database }: SettingsShape): ReadonlyArray<Finding> => {
  if (database._tag === "Embedded") return []
  const { isLocal, sslMode } = targetOf(database.url)
  const isVerified = sslMode.startsWith("verify") || sslMode === "require"
  if (isVerified) return [ok("tls", "the connection is encrypted, and the certificate of the database verified")]
  if (isLocal) return [ok("tls", "not needed: the database is on this machine")]
  return [
    warning(
      "tls",
      `sslmode=${sslMode} does not guarantee encryption or verify the database's certificate.`,
      "Remove sslmode from DATABASE_URL unless the network is trusted."
    )
  ]
}

const checkSession = Effect.map(SessionCheck.fault, (found) =>
  found === undefined ? ok("encoding", "UTF8; transactions are read committed") : fault("encoding", found.message)
)

interface Limits {
  readonly server: number
  readonly role: number
  readonly database: number
  readonly open: number
}

// A role and a database without a limit have -1.
const checkConnections = Effect.fnUntraced(function* ({ database, role }: SettingsShape) {
  if (database._tag === "Embedded" || database.pooler !== undefined) return []
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<Limits>`
    SELECT current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
             - coalesce(current_setting('reserved_connections', true)::int, 0) AS server,
           (SELECT rolconnlimit FROM pg_roles WHERE rolname = current_user) AS role,
           (SELECT datconnlimit FROM pg_database WHERE datname = current_database()) AS database,
           (SELECT count(*)::int FROM pg_stat_activity
            WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()) AS open
  `
  const { open, ...limits } = row!
  const allowed = Math.min(...Object.values(limits).filter((limit) => limit >= 0))
  const needed = maxConnections(database) + (role === "api" ? 0 : workerConnections)
  const sum = `a process opens up to ${needed}; ${allowed} are allowed, and ${open} are open`
  const remedy = "Lower GOVOICE_DATABASE_CONNECTIONS, raise max_connections or the limit of the role, or use a pooler."
  if (needed > allowed) return [fault("connections", `${sum}.`, remedy)]
  return [needed + open > allowed ? warning("connections", `${sum}.`, remedy) : ok("connections", sum)]
})

const checkSchema = Effect.gen(function* () {
  const { isCurrent, isReadOnly } = yield* Migrations.status
  if (isCurrent) {
    if (isReadOnly) {
      return fault("schema", "current, but the database is read-only.", "Point DATABASE_URL at the primary.")
    }
    const problem = yield* Partitions.problem(1)
    return problem === undefined ? ok("schema", "current") : warning("schema", problem)
  }
  const obstacle = yield* Migrations.obstacle
  return obstacle === undefined
    ? warning("schema", "not current; `serve` migrates it when it starts.", "Migrate it now with 'govoice migrate'.")
    : fault("schema", obstacle.message)
})

const checkClock = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const before = yield* Clock.currentTimeMillis
  const [row] = yield* sql<{ readonly now: number }>`
    SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now
  `
  const after = yield* Clock.currentTimeMillis
  const theirs = row?.now ?? 0
  // The database read its clock at some time in between.
  const offset = Math.round(Math.max(before - theirs, theirs - after, 0))
  return offset <= maxClockOffsetMs
    ? ok("clock", "agrees with the database")
    : fault(
        "clock",
        `differs from the database by ${offset} ms. Receivers refuse signatures whose time is far off.`,
        "Synchronize the clocks of both machines with NTP."
      )
})

const checkKeys = Effect.fnUntraced(function* (settings: SettingsShape) {
  const { encryptionKeys } = yield* deployment.secrets(settings)
  const report = yield* Effect.provide(KeyCheck.check, KeyRing.layer(encryptionKeys))
  const problem = KeyCheck.describe(report)
  if (problem !== undefined) return fault("keys", problem, KeyCheck.remedy)
  return [...report.inUse].every((id) => id === encryptionKeys[0]?.id)
    ? ok("keys", "open the samples of all stored values")
    : warning(
        "keys",
        `Some values are sealed with older keys, which must stay in GOVOICE_ENCRYPTION_KEYS: ${[...report.inUse].join(", ")}.`,
        "Re-encrypt them with 'govoice keys rotate-encryption'."
      )
})

const replicaRemedy =
  "The primary serves its reads meanwhile. Check GOVOICE_DATABASE_REPLICA_URL, the replica and its connection to the primary."

/** Waits until the replica has what the primary has now, for as long as it may be behind. */
const checkReplica = ({ database }: SettingsShape) =>
  Effect.gen(function* () {
    if (database._tag === "Embedded" || database.replicaUrl === undefined) return []
    const replica = Context.get(
      yield* Layer.build(Replica.layerClient(database, database.replicaUrl)),
      SqlClient.SqlClient
    )
    const beganAt = yield* Clock.currentTimeMillis
    const primary = yield* Replica.position(yield* SqlClient.SqlClient)
    for (;;) {
      const now = yield* Replica.position(replica)
      yield* Replica.check(primary, now)
      const lagMs = (yield* Clock.currentTimeMillis) - beganAt
      if (now.bytes >= primary.bytes) return [ok("replica", `streams; at most ${lagMs} ms behind`)]
      if (lagMs > Replica.maxLagMs) {
        const bytes = primary.bytes - now.bytes
        const lag = `It is more than ${Replica.maxLagMs / 1000} s behind, by ${bytes} bytes, and is not used.`
        return [warning("replica", lag, replicaRemedy)]
      }
      yield* Effect.sleep("100 millis")
    }
  }).pipe(
    Effect.scoped,
    Effect.catch((error) => Effect.succeed([warning("replica", `It is not used: ${reasonOf(error)}.`, replicaRemedy)]))
  )

/** Asks Postgres itself, where the requests go through a pooler. */
const checkDirect = ({ database }: SettingsShape) =>
  database._tag === "Embedded" || database.pooler?.directUrl === undefined
    ? Effect.succeed([])
    : Layer.build(
        // A pooler refuses what a session of Postgres itself is given.
        PostgresClient.layer(
          { ...database, url: database.pooler.directUrl, pooler: undefined },
          { applicationName, maxConnections: 1, parameters: {}, decidePlans: false, deadlineMs: 5000 }
        )
      ).pipe(
        Effect.flatMap((context) => Context.get(context, SqlClient.SqlClient)`SELECT 1`),
        Effect.as([ok("direct", "Postgres itself answers, for notifications")]),
        Effect.scoped,
        Effect.catch((error) =>
          Effect.succeed([
            warning(
              "direct",
              `Postgres itself cannot be asked: ${reasonOf(error)}.`,
              "Workers look for new work once a second meanwhile. Check GOVOICE_DATABASE_DIRECT_URL."
            )
          ])
        )
      )

const examineDatabase = Effect.fnUntraced(function* (settings: SettingsShape, production: boolean) {
  const findings: Array<Finding> = [
    yield* checkVersion,
    ...checkTls(settings),
    yield* checkSession,
    ...(yield* checkConnections(settings)),
    ...(yield* checkDirect(settings)),
    ...(yield* checkReplica(settings)),
    yield* checkClock,
    yield* checkSchema,
    ...(production ? yield* doctorProduction.checkDatabase(settings) : [])
  ]
  if (yield* Migrations.isCurrent) {
    findings.push(yield* checkKeys(settings), ...(yield* checkStored(settings)))
    findings.push(...(yield* doctorCells.check(settings)))
  }
  return findings
})

const failed = (error: { readonly message: string }): Finding =>
  error instanceof CommandFailure && error.holder !== undefined
    ? ok("database", `in use by ${error.holder}; its GET /readyz tells more`)
    : fault("database", error.message)

const checkNew = (settings: SettingsShape, dataDir: string | undefined): Effect.Effect<Finding> => {
  const unusable = dataDir === undefined ? undefined : DataDirectory.faultOf(dataDir)
  if (unusable !== undefined) return Effect.succeed(fault("database", unusable.message))
  return Effect.match(deployment.encryptionKeys(settings), {
    onFailure: ({ message }) => fault("secrets", message),
    onSuccess: () => ok("database", "embedded; created when the server starts")
  })
}

/** Checks the database of these settings. Does not create an embedded one. */
export const checkDatabase = (settings: SettingsShape, production = false): Effect.Effect<ReadonlyArray<Finding>> =>
  Effect.suspend(() => {
    const { database } = settings
    if (database._tag === "Embedded") {
      const { dataDir } = database
      if (dataDir === undefined || !EmbeddedPostgres.exists(join(dataDir, "postgres"))) {
        return Effect.map(checkNew(settings, dataDir), (finding) => [finding])
      }
    }
    return deployment.onDatabase(settings, examineDatabase(settings, production)).pipe(
      Effect.timeout("20 seconds"),
      Effect.catch((error) => Effect.succeed([failed(error)]))
    )
  })

const isUnnamed = new RegExp(`^${metricName}(?:\\{[^}]*\\})? 1$`, "m")

// Undefined if no server runs here, or none that tells. What listens is told elsewhere.
const metricsOf = ({
  http,
  metricsPort,
  role
}: Pick<SettingsShape, "http" | "metricsPort" | "role">): Effect.Effect<string | undefined> => {
  if (metricsPort === undefined || metricsPort === 0 || role === "worker") return Effect.succeed(undefined)
  return Effect.tryPromise(async () => {
    const url = `http://${hostOf(http.host)}:${metricsPort}/metrics`
    return (await fetch(url, { redirect: "error", signal: AbortSignal.timeout(5000) })).text()
  }).pipe(Effect.orElseSucceed(() => undefined))
}

/**
 * Judges the trusted proxies, and asks the server that runs with these settings, by its metrics, whether one forwards to it that
 * they do not name.
 */
export const checkProxies = (
  settings: Pick<SettingsShape, "http" | "metricsPort" | "role" | "trustedProxies">
): Effect.Effect<ReadonlyArray<Finding>> =>
  Effect.map(metricsOf(settings), (metrics) => {
    const { trustedProxies } = settings
    const warnings: Array<Finding> = []
    const broad = broadNetworks(trustedProxies)
    if (broad.length > 0)
      warnings.push(
        warning(
          "proxies",
          `GOVOICE_TRUSTED_PROXIES contains ${broad.join(", ")}: clients there choose the address that their limits count under.`,
          "Name the networks of the proxies only."
        )
      )
    if (metrics !== undefined && isUnnamed.test(metrics))
      warnings.push(
        warning(
          "proxies",
          "Most requests to the server that runs here have X-Forwarded-For from an address that GOVOICE_TRUSTED_PROXIES does not name: all clients behind it share its limits.",
          "If it is a proxy, set GOVOICE_TRUSTED_PROXIES to its network, and start the server again. Its log names the address as peer."
        )
      )
    if (warnings.length > 0) return warnings
    if (trustedProxies.length > 0) return [ok("proxies", `trusted: ${trustedProxies.join(", ")}`)]
    return [
      ok(
        "proxies",
        metrics === undefined
          ? "none is trusted; whether one is forgotten is known only from a server that runs here with GOVOICE_METRICS_PORT"
          : "no sign of a proxy that GOVOICE_TRUSTED_PROXIES does not name"
      )
    ]
  })

/** How long a Redis may take to answer, in milliseconds. */
const redisTimeoutMs = 5000

/** Asks the Redis of the limits, which workers have no use for. */
export const checkRedis = ({
  redisUrl,
  role
}: Pick<SettingsShape, "redisUrl" | "role">): Effect.Effect<ReadonlyArray<Finding>> => {
  if (redisUrl === undefined || role === "worker") return Effect.succeed([])
  const { host } = new URL(redisUrl)
  return Effect.flatMap(Redis.Redis, (redis) => redis.send("PING")).pipe(
    Effect.provide(RedisClient.layer(redisUrl)),
    Effect.timeoutOrElse({
      duration: redisTimeoutMs,
      orElse: () => Effect.fail(new Error(`no answer within ${redisTimeoutMs} ms`))
    }),
    Effect.match({
      onSuccess: () => [ok("redis", `${host} answers`)],
      onFailure: (error) => [
        fault(
          "redis",
          `Redis at ${host} cannot be used: ${reasonOf(error)}. Check REDIS_URL, and that Redis is running.`
        )
      ]
    })
  )
}

const maxKsefClockOffsetMs = 30_000

/** Asks the environment for a challenge, whose time is that of KSeF. */
export const checkEnvironment = (settings: SettingsShape): Effect.Effect<ReadonlyArray<Finding>> =>
  settings.ksef.environment === undefined
    ? Effect.succeed([])
    : ksef
        .withClient(settings, (client) =>
          Effect.gen(function* () {
            const before = yield* Clock.currentTimeMillis
            const { timestampMs } = yield* client.challenge
            const after = yield* Clock.currentTimeMillis
            const offset = Math.max(before - timestampMs, timestampMs - after, 0)
            return [
              ok("ksef", `${settings.ksef.environmentId} answers`),
              offset <= maxKsefClockOffsetMs
                ? ok("ksef", "its clock agrees with this machine's")
                : fault(
                    "ksef",
                    `The clock differs from that of KSeF by ${Math.round(offset / 1000)} s. Logins fail.`,
                    "Synchronize the clock of this machine with NTP."
                  )
            ]
          })
        )
        .pipe(
          Effect.catch(({ message }) =>
            Effect.succeed([
              fault(
                "ksef",
                `${settings.ksef.environmentId} does not answer: ${message}.`,
                "Check the network of this machine, and the announcements of KSeF. Nothing is lost: invoices wait."
              )
            ])
          )
        )

// From the first of December on, each organization with a token is named. `today` is the day in Poland.
const organizationsWithTokens = (
  { token_examples, tokens }: GatewayCredentials.CredentialCounts,
  today: string
): string => {
  if (today < tokensToldFrom) return `${tokens} organizations log in`
  const rest = tokens - token_examples.length
  const more = rest === 0 ? "" : ` and ${rest} more`
  return `${token_examples.join(", ")}${more} ${tokens === 1 ? "logs" : "log"} in`
}

/** Finds what the credentials need. `today` is the day in Poland. */
export const credentialFindings = (
  counts: GatewayCredentials.CredentialCounts,
  today: string
): ReadonlyArray<Finding> => [
  ...(counts.refused === 0
    ? []
    : [
        warning(
          "ksef",
          `KSeF refuses the credentials of ${counts.refused} organizations, such as ${counts.refused_example}.`,
          `Run 'govoice ksef credential show --organization ${counts.refused_example}' for the reason.`
        )
      ]),
  ...(counts.expiring === 0
    ? []
    : [
        warning(
          "ksef",
          `The credentials of ${counts.expiring} organizations expire within 30 days, such as that of ${counts.expiring_example}.`,
          "Have their owners store new ones."
        )
      ]),
  ...(counts.tokens === 0
    ? []
    : [
        warning(
          "ksef",
          `${organizationsWithTokens(counts, today)} with tokens, which the rules provide for until ${tokensUntil}.`,
          "Have their owners store certificates. A certificate cannot be obtained with a token."
        )
      ]),
  ...(counts.refused + counts.expiring + counts.tokens === 0
    ? [ok("ksef", `${counts.all} credentials are stored`)]
    : [])
]

const certificateFindings = ({
  expiring,
  expiring_example
}: OfflineCertificates.CertificateCounts): ReadonlyArray<Finding> =>
  expiring === 0
    ? []
    : [
        warning(
          "ksef",
          `The offline certificates of ${expiring} organizations expire within 30 days or have expired, such as that of ${expiring_example}.`,
          "Have their owners request new ones of the type Offline and store them. Without one, no invoice is issued offline."
        )
      ]

/** Checks what the database has about live mode. It is migrated. */
export const checkStored = (
  settings: SettingsShape
): Effect.Effect<ReadonlyArray<Finding>, SqlError.SqlError, SqlClient.SqlClient> =>
  Effect.gen(function* () {
    const { environmentId } = settings.ksef
    if (environmentId === undefined) return []
    const { environment, pending_for_a_day: late, unsent } = yield* LaneOverview.read
    const counts = yield* GatewayCredentials.count(environmentId)
    return [
      ...(environment === null || environment === environmentId
        ? []
        : [
            warning(
              "ksef",
              `The database belongs to the environment ${environment}, and the settings name ${environmentId}.${unsent > 0 ? " The server does not start while live invoices are unfinished." : ""}`,
              "Set GOVOICE_KSEF_ENVIRONMENT or GOVOICE_KSEF_URL back, or use another database."
            )
          ]),
      ...credentialFindings(counts, PolishTime.day(yield* Clock.currentTimeMillis)),
      ...certificateFindings(yield* OfflineCertificates.count(environmentId)),
      ...(late === 0
        ? []
        : [
            warning(
              "ksef",
              `${late} invoices were sent more than 24 hours ago and have no verdict.`,
              "Run 'govoice ksef status'. KSeF decides late at times; nothing is sent again meanwhile."
            )
          ])
    ]
  })
