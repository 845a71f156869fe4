/** The checks of `govoice doctor --production`: what is fine on a laptop, and not where others depend on the server. */
import { Effect } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { execFile } from "node:child_process"
import { statfsSync } from "node:fs"
import { isLoopback } from "../settings/loopback.ts"
import type { SettingsShape } from "../settings/Settings.ts"
import { targetOf } from "../settings/postgresUrl.ts"
import { fault, type Finding, ok, warning } from "./Finding.ts"

const checkSignup = ({ signupOpen }: SettingsShape): Finding =>
  signupOpen
    ? warning(
        "signup",
        "GOVOICE_SIGNUP is open: whoever reaches the API can create an account.",
        "Set GOVOICE_SIGNUP=closed, and create accounts with 'govoice account create'."
      )
    : ok("signup", "closed")

const checkTransport = ({ http, role, trustedProxies }: SettingsShape): ReadonlyArray<Finding> => {
  if (role === "worker") return []
  if (trustedProxies.length > 0) {
    return [ok("http", "plain, for the proxies of GOVOICE_TRUSTED_PROXIES, which have to end TLS")]
  }
  return [
    isLoopback(http.host)
      ? warning(
          "http",
          "The API is plain HTTP and listens only on this machine, and no proxy is named: others cannot reach it, or all count as one client.",
          "Put a proxy with TLS in front, and set GOVOICE_TRUSTED_PROXIES to its network, such as 127.0.0.1."
        )
      : warning(
          "http",
          `The API is plain HTTP at ${http.host}, and no proxy is named: keys and passwords may pass the network unencrypted.`,
          "Put a proxy with TLS in front, set GOVOICE_TRUSTED_PROXIES to its network, and let nobody else reach the port."
        )
  ]
}

const alerts = "Have Prometheus scrape it, and load the rules of observability/alerts.yaml."

const checkMetrics = ({ metricsPort }: SettingsShape): Finding =>
  metricsPort === undefined
    ? warning(
        "metrics",
        "Metrics are not served: nothing can scrape them, and no alert can fire.",
        `Set GOVOICE_METRICS_PORT. ${alerts}`
      )
    : {
        ...ok(
          "metrics",
          `served on port ${metricsPort}; whether they are scraped, and whether alerts reach anybody, cannot be seen from here`
        ),
        remedy: `${alerts} Let one alert fire, to see that it arrives.`
      }

const checkMail = ({ mail }: SettingsShape): Finding =>
  mail === undefined
    ? warning(
        "mail",
        "No mails are sent: owners cannot reset their passwords, and learn only in the console of endpoints that fail and certificates that expire.",
        "Set GOVOICE_SMTP_URL, GOVOICE_MAIL_FROM and GOVOICE_PUBLIC_URL. 'govoice notices' prints what owners should know."
      )
    : ok("mail", "sent by the server of GOVOICE_SMTP_URL")

const run = (command: string, args: ReadonlyArray<string>): Promise<string> =>
  new Promise((done) => execFile(command, args, { timeout: 5000 }, (error, stdout) => done(error ? "" : stdout.trim())))

/** Whether the clock of this machine is synchronized, where systemd tells. */
const checkSynchronized = Effect.map(
  Effect.promise(() => run("timedatectl", ["show", "--property=NTPSynchronized", "--value"])),
  (answer): ReadonlyArray<Finding> =>
    answer === "no"
      ? [
          warning(
            "clock",
            "According to timedatectl, the clock of this machine is not synchronized.",
            "Run 'timedatectl set-ntp true', or install chrony."
          )
        ]
      : []
)

const gigabyte = 1024 ** 3

/** Judges the free space of the disk of a directory. */
export const judgeDisk = (directory: string, free: number, size: number): Finding => {
  const text = `${(free / gigabyte).toFixed(1)} of ${(size / gigabyte).toFixed(1)} GiB are free at ${directory}`
  return free < gigabyte || free < size / 10
    ? warning("disk", `${text}.`, "Free or add space: writes are refused while the disk is full.")
    : ok("disk", text)
}

const checkDisk = (directory: string): ReadonlyArray<Finding> => {
  try {
    const { bavail, blocks, bsize } = statfsSync(directory)
    return [judgeDisk(directory, bavail * bsize, blocks * bsize)]
  } catch {
    // The directory of a database that runs elsewhere, or that this user cannot see.
    return []
  }
}

/** Checks what needs no database. */
export const checkDeployment = (settings: SettingsShape): Effect.Effect<ReadonlyArray<Finding>> =>
  Effect.map(checkSynchronized, (clock) => [
    checkSignup(settings),
    ...checkTransport(settings),
    checkMetrics(settings),
    checkMail(settings),
    ...clock
  ])

interface Row {
  readonly fsync: string
  readonly full_page_writes: string
  readonly synchronous_commit: string
  readonly autovacuum: string
  readonly data_checksums: string
  readonly data_directory: string | null
  readonly size: number
  readonly archived: boolean
  readonly replicas: number
}

const backupRemedy =
  "Archive WAL and make base backups, or dump the database every day, as the guide on operating says. A backup that your provider makes is not seen here."

/** Judges the settings of Postgres on which the promises of the server depend. */
const judgeSettings = (row: Row): ReadonlyArray<Finding> => {
  const unsafe = (["fsync", "full_page_writes", "synchronous_commit"] as const).filter((name) => row[name] === "off")
  return [
    unsafe.length === 0
      ? ok("postgres", "what is committed survives a crash")
      : fault(
          "postgres",
          `${unsafe.join(", ")} ${unsafe.length === 1 ? "is" : "are"} off: a crash of Postgres loses invoices that were accepted.`,
          "Set them on in postgresql.conf, and reload."
        ),
    ...(row.autovacuum === "off"
      ? [warning("postgres", "autovacuum is off: tables grow, and claims get slower.", "Set autovacuum on.")]
      : []),
    ...(row.data_checksums === "off"
      ? [
          warning(
            "postgres",
            "data_checksums is off: pages that a disk damaged are not noticed.",
            "Stop Postgres, and run 'pg_checksums --enable'."
          )
        ]
      : [])
  ]
}

/** Checks a migrated or empty database. */
export const checkDatabase = ({
  database
}: SettingsShape): Effect.Effect<ReadonlyArray<Finding>, SqlError.SqlError, SqlClient.SqlClient> =>
  Effect.gen(function* () {
    if (database._tag === "Embedded") {
      return [
        warning(
          "postgres",
          "The embedded database serves one process, and is backed up while it is stopped.",
          "Set DATABASE_URL where others rely on the server."
        ),
        ...checkDisk(database.dataDir ?? ".")
      ]
    }
    const sql = yield* SqlClient.SqlClient
    const [row] = yield* sql<Row>`
      SELECT current_setting('fsync') AS fsync, current_setting('full_page_writes') AS full_page_writes,
             current_setting('synchronous_commit') AS synchronous_commit, current_setting('autovacuum') AS autovacuum,
             current_setting('data_checksums') AS data_checksums,
             CASE WHEN pg_has_role(current_user, 'pg_read_all_settings', 'USAGE')
               THEN current_setting('data_directory') END AS data_directory,
             pg_database_size(current_database())::float8 AS size,
             (SELECT coalesce(last_archived_time > clock_timestamp() - interval '1 day', false) FROM pg_stat_archiver) AS archived,
             (SELECT count(*)::int FROM pg_stat_replication) AS replicas
    `
    const { archived, data_directory, replicas, size } = row!
    const isHere = targetOf(database.url).isLocal
    const disk = isHere && data_directory !== null ? checkDisk(data_directory) : []
    return [
      ...judgeSettings(row!),
      archived
        ? ok("backup", "WAL was archived within a day")
        : warning(
            "backup",
            `No backup is seen: no WAL was archived within a day${replicas === 0 ? ", and no replica is connected" : "; a replica repeats a mistake"}.`,
            backupRemedy
          ),
      ...(disk.length > 0
        ? disk
        : [
            ok(
              "disk",
              `not seen from here; the database has ${(size / gigabyte).toFixed(1)} GiB: watch the free space of its disk`
            )
          ])
    ]
  })
