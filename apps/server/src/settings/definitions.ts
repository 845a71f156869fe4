/**
 * Every setting: its environment variable, parser, default and description.
 *
 * Nothing else reads the environment. `govoice settings` and the reference page are printed from this table.
 */
import { Backoff, OptionParsers } from "@govoice/dispatcher"
import * as Parsers from "./Parsers.ts"

export interface Definition<A> {
  readonly description: string
  readonly parse: Parsers.Parser<A>
  readonly default: A
  /** The default in words, where its text is not enough. */
  readonly defaultText?: string
  /** A secret is never printed. */
  readonly secret?: true
}

type Options = Pick<Definition<unknown>, "defaultText" | "secret">

const define = <A>(
  description: string,
  parse: Parsers.Parser<A>,
  byDefault: A,
  options: Options = {}
): Definition<A> => ({
  description,
  parse,
  default: byDefault,
  ...options
})

/** A setting without a value unless one is given. `defaultText` says what happens then. */
const optional = <A>(
  description: string,
  parse: Parsers.Parser<A>,
  defaultText: string,
  options: Pick<Options, "secret"> = {}
): Definition<A | undefined> => define<A | undefined>(description, parse, undefined, { defaultText, ...options })

const networks = Parsers.listOf(OptionParsers.networks)

const none = { defaultText: "none" } as const

/** The settings, in the groups of the reference page. */
export const groups = {
  "The process": {
    PORT: define("Port of the API. 0 picks a free one.", Parsers.integer(0, 65_535), 3000),
    HOST: define("Address that the API and the metrics listen on.", Parsers.text, "127.0.0.1"),
    GOVOICE_ROLE: define(
      "What the process runs: the API (`api`), the workers (`worker`), or both (`all`). `api` and `worker` require `DATABASE_URL`.",
      Parsers.oneOf("all", "api", "worker"),
      "all"
    ),
    GOVOICE_LOG_LEVEL: define(
      "Least severe level that is logged.",
      Parsers.oneOf("Trace", "Debug", "Info", "Warn", "Error"),
      "Info"
    ),
    GOVOICE_ACCESS_LOG: define(
      "Which requests get a line in the log: none, those answered with a status of 400 or above or aborted (`errors`), or `all`.",
      Parsers.oneOf("off", "errors", "all"),
      "off"
    ),
    GOVOICE_METRICS_PORT: optional(
      "Port of `/metrics`, on `HOST`, with `/healthz` and `/readyz` for workers. 0 picks a free one. Without it, metrics are not served.",
      Parsers.integer(0, 65_535),
      "none"
    ),
    OTEL_EXPORTER_OTLP_ENDPOINT: optional(
      "OTLP endpoint (HTTP) that traces are sent to. `/v1/traces` is appended.",
      Parsers.url("http", "https"),
      "no traces"
    )
  },
  "Data and secrets": {
    DATABASE_URL: optional(
      "URL of the Postgres database; several hosts are separated by commas. Off this machine, `sslmode` defaults to `verify-full`. Without the URL, an embedded Postgres stores its data in `GOVOICE_DATA_DIR`.",
      Parsers.postgresUrl,
      "embedded",
      { secret: true }
    ),
    GOVOICE_DATABASE_POOLED: optional(
      "Whether `DATABASE_URL` is that of a pooler such as PgBouncer, in transaction or session mode.",
      Parsers.boolean,
      "`true` with `GOVOICE_DATABASE_DIRECT_URL`, otherwise `false`"
    ),
    GOVOICE_DATABASE_DIRECT_URL: optional(
      "URL of Postgres itself, when `DATABASE_URL` is that of a pooler. Without it, workers poll once a second.",
      Parsers.postgresUrl,
      "none",
      { secret: true }
    ),
    GOVOICE_DATABASE_REPLICA_URL: optional(
      "URL of a streaming replica of the database. The control plane reads lists of invoices and deliveries and statistics there while it is at most 10 seconds behind. Also that of a pooler, where `DATABASE_URL` is.",
      Parsers.postgresUrl,
      "none",
      { secret: true }
    ),
    GOVOICE_CELL: optional(
      "Name of the cell that this deployment is, where several share one directory: lower-case letters and digits. Requires `DATABASE_URL`.",
      Parsers.cellName,
      "no cells"
    ),
    GOVOICE_CONTROL_DATABASE_URL: optional(
      "URL of the database of the control cell, for every other cell. Postgres itself connects to it, too: `sslmode` has to be given off this machine.",
      Parsers.postgresUrl,
      "this is the control cell",
      { secret: true }
    ),
    GOVOICE_TARGET_DATABASE_URL: optional(
      "URL of the database of the cell to which `govoice cells move` moves an organization. Its user may create subscriptions.",
      Parsers.postgresUrl,
      "none",
      { secret: true }
    ),
    GOVOICE_DATABASE_CONNECTIONS: define(
      "How many connections to Postgres serve the requests of a process, at most. A process that works on invoices and webhooks has six more, and one that uses a replica half as many to it.",
      Parsers.integer(2, 1000),
      20
    ),
    GOVOICE_DATABASE_WAIT_MS: define(
      "How long `serve` waits at start for a database that cannot be reached, or for a table of it that is locked. 0 does not wait.",
      Parsers.integer(0, 3_600_000),
      30_000
    ),
    GOVOICE_DATA_DIR: define(
      "Directory of the embedded Postgres and its secrets. `memory` stores nothing.",
      Parsers.text,
      ".govoice"
    ),
    GOVOICE_JWT_SECRET: optional(
      "Signs access tokens and list cursors. At least 32 characters. Required with `DATABASE_URL`.",
      Parsers.secret(32),
      "generated and stored in the data directory",
      { secret: true }
    ),
    GOVOICE_ENCRYPTION_KEYS: optional(
      "Encrypt signing secrets, headers of endpoints and credentials at rest: `id:base64,…`, 32 bytes each. New values use the first key, stored values the key that they name. Required with `DATABASE_URL`.",
      Parsers.encryptionKeys,
      "generated and stored in the data directory",
      { secret: true }
    ),
    GOVOICE_EVENT_RETENTION_DAYS: define(
      "Minimum number of days that events and their deliveries are kept. Whole weeks are removed, except unfinished deliveries.",
      Parsers.integer(1, 36_500),
      90
    )
  },
  "The API": {
    GOVOICE_API_ENABLED: define("Whether `/v1` is served.", Parsers.boolean, true),
    GOVOICE_CONSOLE: define(
      "Whether the console of account owners is served under `/console`.",
      Parsers.oneOf("on", "off"),
      "on"
    ),
    GOVOICE_SIGNUP: define("Whether anybody may create an account.", Parsers.oneOf("open", "closed"), "open"),
    GOVOICE_RATE_LIMIT_PER_SECOND: define("Requests per second of one API key.", Parsers.integer(1, 1_000_000), 100),
    GOVOICE_RATE_LIMIT_BURST: define("Requests that one API key may send at once.", Parsers.integer(1, 1_000_000), 200),
    GOVOICE_RATE_LIMIT_BYTES_PER_SECOND: define(
      "Request body bytes per second of one API key. Four times as many may arrive at once.",
      Parsers.integer(1_048_576, 1_099_511_627_776),
      8_388_608
    ),
    GOVOICE_ACCOUNT_RATE_LIMIT_PER_SECOND: define(
      "Control-plane requests per second of one account. Ten times as many may be sent at once.",
      Parsers.integer(1, 1_000_000),
      20
    ),
    GOVOICE_TRUSTED_PROXIES: define(
      "Networks of the proxies in front of the API. Their `Forwarded` or `X-Forwarded-For` names the client.",
      networks,
      [],
      none
    ),
    GOVOICE_CONNECTIONS_PER_ADDRESS: define(
      "Connections that one client address may have open. Trusted proxies have no limit.",
      Parsers.integer(1, 1_000_000),
      256
    ),
    REDIS_URL: optional(
      "URL of a Redis that shares the limits of API keys and addresses between processes. Without it, and while it is unavailable, each process counts for itself.",
      Parsers.url("redis", "rediss"),
      "none",
      { secret: true }
    ),
    GOVOICE_SANDBOX_STEP_MS: define("Duration of one step of a sandbox scenario.", Parsers.integer(1, 3_600_000), 1000)
  },
  Mail: {
    GOVOICE_SMTP_URL: optional(
      "SMTP server that mails to owners are sent by, as `smtps://user:password@host:465` or `smtp://user:password@host:587`. Off this machine, `smtp` requires STARTTLS. Requires `GOVOICE_MAIL_FROM` and `GOVOICE_PUBLIC_URL`.",
      Parsers.url("smtp", "smtps"),
      "no mails",
      { secret: true }
    ),
    GOVOICE_MAIL_FROM: optional("Sender of the mails, as `govoice@example.com`.", Parsers.text, "none"),
    GOVOICE_PUBLIC_URL: optional(
      "URL at which owners reach the server, without `/console`. Links in mails begin with it.",
      Parsers.url("http", "https"),
      "none"
    )
  },
  "Live mode": {
    GOVOICE_LIVE_MODE: define(
      "Whether live keys may submit to the national system (KSeF). `true` requires either `GOVOICE_KSEF_ENVIRONMENT` or `GOVOICE_KSEF_URL`.",
      Parsers.boolean,
      false
    ),
    GOVOICE_KSEF_ENVIRONMENT: optional(
      "Environment of KSeF that this deployment uses: `test`, `demo` or `prod`.",
      Parsers.oneOf("test", "demo", "prod"),
      "none"
    ),
    GOVOICE_KSEF_URL: optional(
      "Base URL of another KSeF, such as a simulator. Ends in `/v2`; HTTPS, or HTTP on a loopback address. Replaces `GOVOICE_KSEF_ENVIRONMENT`: set one of the two.",
      Parsers.ksefUrl,
      "none"
    ),
    GOVOICE_KSEF_PROXY: optional(
      "Forward proxy for calls to KSeF, as `http://user:password@host:port`. It receives `CONNECT` with the name of the host.",
      Parsers.ofDispatcher(OptionParsers.proxy),
      "none",
      { secret: true }
    ),
    GOVOICE_DOCUMENT_CHECKS: define(
      "What documents of live keys are checked for at submission: `schema` for form, national rules and XML schema, `well-formed` only for well-formed XML.",
      Parsers.oneOf("schema", "well-formed"),
      "schema"
    )
  },
  Webhooks: {
    GOVOICE_WEBHOOK_ALLOW_HTTP: define("Whether webhooks may be sent to http URLs.", Parsers.boolean, false),
    GOVOICE_WEBHOOK_ALLOW_NETWORKS: define(
      "Networks that webhooks may reach although they are not public. A bare address is a network of one.",
      networks,
      [],
      none
    ),
    GOVOICE_WEBHOOK_DENY_NETWORKS: define(
      "Networks that webhooks may not reach. Wins over `GOVOICE_WEBHOOK_ALLOW_NETWORKS`.",
      networks,
      [],
      none
    ),
    GOVOICE_WEBHOOK_PROXY: optional(
      "Forward proxy for webhooks, as `http://user:password@host:port`. It receives `CONNECT` with the judged address.",
      Parsers.ofDispatcher(OptionParsers.proxy),
      "none",
      { secret: true }
    ),
    GOVOICE_WEBHOOK_TIMEOUT_MS: optional(
      "Deadline of one webhook attempt, from name lookup to response head.",
      Parsers.integer(100, 600_000),
      "10000, or `GOVOICE_LEASE_MS` minus 5001 if that is shorter"
    ),
    GOVOICE_RETRY_SCHEDULE_MS: define(
      "Waits between the attempts of a delivery. There is one attempt more than there are waits.",
      Parsers.integers(1, 30 * 86_400_000),
      Backoff.defaultSchedule,
      { defaultText: Backoff.defaultSchedule.join(",") }
    ),
    GOVOICE_DISABLE_ENDPOINTS_AFTER_DAYS: define(
      "Days of nothing but failures after which an endpoint is switched off. 0: never.",
      Parsers.integer(0, 365),
      5
    ),
    GOVOICE_TENANT_CONCURRENCY: define(
      "Concurrency limit of one organization: its deliveries in flight over all workers.",
      Parsers.integer(1, 10_000),
      10
    ),
    GOVOICE_WORKER_CONCURRENCY: define(
      "Concurrency limit of one worker: its deliveries in flight. Slow endpoints take at most half.",
      Parsers.integer(1, 10_000),
      670
    ),
    GOVOICE_LEASE_MS: optional(
      "Lease of a claimed delivery, or of a lane of live mode. When it expires, any worker goes on. Must be longer than `GOVOICE_WEBHOOK_TIMEOUT_MS` plus 5000.",
      Parsers.integer(1000, 3_600_000),
      "30000, or `GOVOICE_WEBHOOK_TIMEOUT_MS` plus 10000 if that is longer"
    )
  }
} as const

/** Every setting, by environment variable. */
export const definitions = {
  ...groups["The process"],
  ...groups["Data and secrets"],
  ...groups["The API"],
  ...groups.Mail,
  ...groups["Live mode"],
  ...groups.Webhooks
} as const

type Definitions = typeof definitions

/** Environment variable of a setting. */
export type Name = keyof Definitions

/** The value of every setting as it was given or defaulted, by environment variable. */
export type Values = { readonly [K in Name]: Definitions[K] extends Definition<infer A> ? A : never }
