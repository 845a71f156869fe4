/**
 * The `govoice` command: everything that is done to a deployment from a shell. This is the command line, with its help; what a command
 * does is in the module of its name, which is loaded when it runs.
 */
import { Argument, Command, Flag } from "effect/cli"
import type { EnvironmentVariables } from "../settings/EnvironmentVariables.ts"
import { Console, Effect } from "effect"
import * as newSecrets from "../settings/newSecrets.ts"

/** Makes the function that loads a module when one of its commands runs, and runs the command with it. */
const from =
  <Module>(load: () => Promise<Module>) =>
  <A, E, R>(run: (module: Module) => Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.flatMap(Effect.promise(load), run)

const fromAccount = from(() => import("./account.ts"))
const fromCells = from(() => import("./cells.ts"))
const fromCellsMove = from(() => import("./cellsMove.ts"))
const fromCheckInvoice = from(() => import("./checkInvoice.ts"))
const fromDev = from(() => import("./dev.ts"))
const fromDoctor = from(() => import("./doctor.ts"))
const fromKeys = from(() => import("./keys.ts"))
const fromKsef = from(() => import("./ksef.ts"))
const fromMigrate = from(() => import("./migrate.ts"))
const fromNotices = from(() => import("./notices.ts"))
const fromOfflineCertificate = from(() => import("./offlineCertificate.ts"))
const fromOrganizations = from(() => import("./organizations.ts"))
const fromPrune = from(() => import("./prune.ts"))
const fromServe = from(() => import("./serve.ts"))
const fromSettings = from(() => import("./settings.ts"))

/** The flag that names an organization. */
const organization = Flag.String("organization").pipe(
  Flag.withDescription("The organization, org_…, as the API names it.")
)

/** The flag that asks for JSON. */
const json = Flag.Boolean("json").pipe(Flag.withDescription("Print JSON."), Flag.withDefault(false))

// It ends once the start of the server has begun.
const serve = (env: EnvironmentVariables) =>
  Command.make("serve", {}, () => fromServe(({ start }) => start(env))).pipe(
    Command.withDescription(
      "Run the server: the API, the workers, or both (GOVOICE_ROLE). Without DATABASE_URL it keeps its data in .govoice, on an embedded Postgres. SIGTERM or Ctrl-C stops it after the requests and attempts in flight. Settings are environment variables: govoice settings lists them."
    ),
    Command.withShortDescription("Run the server."),
    Command.withExamples([
      { command: "govoice serve", description: "On the embedded database, at http://127.0.0.1:3000" },
      { command: "PORT=8080 GOVOICE_DATA_DIR=memory govoice serve", description: "On another port, keeping nothing" },
      {
        command: "node --env-file=govoice.env $(which govoice) serve",
        description: "With settings from a file"
      }
    ])
  )

const dev = (env: EnvironmentVariables) =>
  Command.make(
    "dev",
    {
      open: Flag.Boolean("open").pipe(
        Flag.withDescription("Open the console in a browser. `--no-open` only prints its address."),
        Flag.withDefault(true)
      )
    },
    (flags) => fromDev(({ start }) => start(env, flags))
  ).pipe(
    Command.withDescription(
      "Run a server for development, only on this machine: on the embedded Postgres, with an account, an organization, a test key, and a receiver that verifies and prints webhooks. Opens the console logged in, where there is a browser, and prints three commands to try. Everything is kept in GOVOICE_DATA_DIR, and the next start continues with it."
    ),
    Command.withShortDescription("Run a server for development, with everything set up."),
    Command.withExamples([
      { command: "govoice dev", description: "In .govoice, at http://127.0.0.1:3000" },
      { command: "PORT=0 govoice dev --no-open", description: "On a free port, without a browser" }
    ])
  )

const doctor = (env: EnvironmentVariables) =>
  Command.make(
    "doctor",
    {
      url: Flag.String("url").pipe(
        Flag.withDescription("Also check this webhook URL as an attempt would, without sending a request."),
        Flag.optional
      ),
      production: Flag.Boolean("production").pipe(
        Flag.withDescription(
          "Also check what a server needs before others rely on it: closed sign-up, TLS, metrics, durable Postgres, backups, disk."
        ),
        Flag.withDefault(false)
      ),
      json
    },
    (flags) => fromDoctor(({ diagnose }) => diagnose(env, flags))
  ).pipe(
    Command.withDescription(
      "Check settings, database, clock, keys, outbound guard and live mode, and print a remedy for each fault. Changes nothing. Exits with 1 when a check fails; a warning can be intended."
    ),
    Command.withShortDescription("Check settings, database, clock, keys, outbound guard and live mode."),
    Command.withExamples([
      { command: "govoice doctor", description: "With the settings of this shell" },
      { command: "govoice doctor --production", description: "Before others rely on the server" },
      {
        command: "govoice doctor --url https://hooks.example.com/govoice",
        description: "Also tell whether webhooks may be sent there"
      }
    ])
  )

const migrate = (env: EnvironmentVariables) =>
  Command.make(
    "migrate",
    {
      check: Flag.Boolean("check").pipe(
        Flag.withDescription("Change nothing, and exit with 1 when the schema is not current."),
        Flag.withDefault(false)
      )
    },
    (flags) => fromMigrate(({ migrate }) => migrate(env, flags))
  ).pipe(
    Command.withDescription(
      "Migrate the database. `serve` does so too when it starts: run this first where many processes start at once, or where only one user may change the schema."
    ),
    Command.withShortDescription("Migrate the database."),
    Command.withExamples([
      { command: "govoice migrate", description: "Apply the migrations that are missing" },
      { command: "govoice migrate --check", description: "Tell whether any are missing" }
    ])
  )

const email = Argument.String("email").pipe(Argument.withDescription("The email address that logs in."))

const create = (env: EnvironmentVariables) =>
  Command.make(
    "create",
    {
      email,
      organization: Flag.String("organization").pipe(
        Flag.withDescription("Also make an organization of this name, with a test key that is shown once."),
        Flag.optional
      )
    },
    (flags) => fromAccount(({ create }) => create(env, flags))
  ).pipe(
    Command.withDescription(
      "Create an account. The password is read from standard input, or from a prompt. Also works with GOVOICE_SIGNUP=closed."
    ),
    Command.withExamples([
      { command: "govoice account create owner@example.com", description: "Ask for the password" },
      {
        command: "govoice account create owner@example.com --organization Example < password.txt",
        description: "Account, organization and first test key in one go"
      }
    ])
  )

const resetPassword = (env: EnvironmentVariables) =>
  Command.make("reset-password", { email }, ({ email }) =>
    fromAccount(({ resetPassword }) => resetPassword(env, email))
  ).pipe(
    Command.withDescription(
      "Replace the password of an account, and end all of its sessions. The new password is read from standard input, or from a prompt. API keys stay valid."
    ),
    Command.withShortDescription("Replace the password of an account."),
    Command.withExamples([
      { command: "govoice account reset-password owner@example.com", description: "Ask for the new password" }
    ])
  )

const account = (env: EnvironmentVariables) =>
  Command.make("account").pipe(
    Command.withDescription("Accounts, which log in and own organizations."),
    Command.withSubcommands([create(env), resetPassword(env)])
  )

const limit = (env: EnvironmentVariables) =>
  Command.make(
    "limit",
    {
      organization: Argument.String("organization").pipe(Argument.withDescription("The organization, org_….")),
      deliveries: Argument.String("deliveries").pipe(
        Argument.withDescription("How many deliveries it may have in flight: 1 to 10000, or `default`.")
      )
    },
    (given) => fromOrganizations(({ limit }) => limit(env, given))
  ).pipe(
    Command.withDescription(
      "Set the concurrency limit of one organization in place of GOVOICE_TENANT_CONCURRENCY. `default` removes it."
    ),
    Command.withShortDescription("Set the concurrency limit of one organization."),
    Command.withExamples([
      {
        command: "govoice organizations limit org_01kq5v4zfxe1r8t0m3n5p7q9sv 50",
        description: "Let one organization have 50 deliveries in flight"
      },
      {
        command: "govoice organizations limit org_01kq5v4zfxe1r8t0m3n5p7q9sv default",
        description: "Give it the limit of the deployment again"
      }
    ])
  )

const organizations = (env: EnvironmentVariables) =>
  Command.make("organizations").pipe(
    Command.withDescription("Organizations, which own API keys, webhook endpoints and invoices."),
    Command.withSubcommands([limit(env)])
  )

const generate = Command.make(
  "generate",
  {},
  Effect.fnUntraced(function* () {
    yield* Console.log(`GOVOICE_JWT_SECRET=${newSecrets.jwtSecret()}`)
    yield* Console.log(`GOVOICE_ENCRYPTION_KEYS=${newSecrets.encryptionKey("k1")}`)
  })
).pipe(
  Command.withDescription(
    "Print both secrets of a new deployment with DATABASE_URL. Stores nothing. For a deployment that has secrets, use 'govoice keys rotate', which keeps its keys."
  ),
  Command.withShortDescription("Print the secrets of a new deployment."),
  Command.withExamples([
    {
      command: "(umask 077; govoice keys generate > govoice.env)",
      description: "Write them to a file that only you can read"
    }
  ])
)

const rotate = (env: EnvironmentVariables) =>
  Command.make(
    "rotate",
    {
      id: Flag.String("id").pipe(
        Flag.withDescription("The id of the new key. By default the next free one of k1, k2 and so on."),
        Flag.optional
      )
    },
    (flags) => fromKeys(({ rotate }) => rotate(env, flags))
  ).pipe(
    Command.withDescription(
      "Print the steps of a rotation, each with the value that GOVOICE_ENCRYPTION_KEYS has then: a new key, and all keys of this deployment. Stores nothing."
    ),
    Command.withShortDescription("Print the steps that rotate the encryption key.")
  )

const reencrypt = (env: EnvironmentVariables) =>
  Command.make("rotate-encryption", {}, () => fromKeys(({ reencrypt }) => reencrypt(env))).pipe(
    Command.withDescription(
      "Re-encrypt stored values with the first key of GOVOICE_ENCRYPTION_KEYS. This is a step of a rotation: 'govoice keys rotate' prints all of them."
    ),
    Command.withShortDescription("Re-encrypt stored values with the first key.")
  )

const keys = (env: EnvironmentVariables) =>
  Command.make("keys").pipe(
    Command.withDescription("Secrets of a deployment."),
    Command.withSubcommands([generate, rotate(env), reencrypt(env)])
  )

const status = (env: EnvironmentVariables) =>
  Command.make("status", { json }, (flags) => fromKsef(({ status }) => status(env, flags))).pipe(
    Command.withDescription(
      "Show the beacon of KSeF, the lanes of the taxpayers, what KSeF blocks and until when, and the invoices that were not sent or have no verdict. The circuit breaker belongs to each process: see the metric govoice_ksef_breaker_open."
    ),
    Command.withShortDescription("Show the lanes, and the invoices that wait for KSeF.")
  )

const put = (env: EnvironmentVariables) =>
  Command.make(
    "put",
    {
      organization,
      context: Flag.String("context").pipe(
        Flag.withDescription(
          "On whose behalf invoices are submitted: a NIP, an internal identifier as 5265877635-12346, or a NIP with a VAT number of the EU as 5265877635-DE123456789."
        )
      ),
      certificate: Flag.String("certificate").pipe(
        Flag.withDescription("File of a KSeF certificate of the type Authentication, in PEM."),
        Flag.optional
      ),
      privateKey: Flag.String("private-key").pipe(
        Flag.withDescription("File of its private key, in PEM. The password of an encrypted key is read like a token."),
        Flag.optional
      ),
      expiresAt: Flag.String("expires-at").pipe(
        Flag.withDescription("When a token expires, as 2026-12-31T22:59:59Z."),
        Flag.optional
      )
    },
    (flags) => fromKsef(({ put }) => put(env, flags))
  ).pipe(
    Command.withDescription(
      "Store the credential of an organization, and replace the one that it has. A token is read from standard input, or from a prompt; a certificate and its key are read from files."
    ),
    Command.withShortDescription("Store the credential of an organization."),
    Command.withExamples([
      {
        command: "govoice ksef credential put --organization org_… --context 5265877635 < token.txt",
        description: "Store a token"
      },
      {
        command:
          "govoice ksef credential put --organization org_… --context 5265877635 --certificate auth.crt --private-key auth.key",
        description: "Store a certificate, and prompt for the password of an encrypted key"
      }
    ])
  )

const show = (env: EnvironmentVariables) =>
  Command.make("show", { organization, json }, (flags) => fromKsef(({ show }) => show(env, flags))).pipe(
    Command.withDescription("Describe the credential of an organization, without its secrets.")
  )

const remove = (env: EnvironmentVariables) =>
  Command.make("remove", { organization }, (flags) => fromKsef(({ remove }) => remove(env, flags))).pipe(
    Command.withDescription("Remove the credential of an organization, with its login at KSeF."),
    Command.withShortDescription("Remove the credential of an organization.")
  )

const credential = (env: EnvironmentVariables) =>
  Command.make("credential").pipe(
    Command.withDescription("Credentials of organizations for the national system (KSeF)."),
    Command.withSubcommands([put(env), show(env), remove(env)])
  )

const putOfflineCertificate = (env: EnvironmentVariables) =>
  Command.make(
    "put",
    {
      organization,
      certificate: Flag.String("certificate").pipe(
        Flag.withDescription(
          "File of a KSeF certificate of the type Offline: PEM, or PKCS#12 (.p12, .pfx) that has its private key, too."
        )
      ),
      privateKey: Flag.String("private-key").pipe(
        Flag.withDescription(
          "File of its private key, in PEM. The password of an encrypted key or of a PKCS#12 file is read from standard input, or from a prompt."
        ),
        Flag.optional
      )
    },
    (flags) => fromOfflineCertificate(({ put }) => put(env, flags))
  ).pipe(
    Command.withDescription(
      "Store the certificate with which an organization issues invoices offline, and replace the one that it has. Invoices keep the codes that they were issued with."
    ),
    Command.withShortDescription("Store the offline certificate of an organization."),
    Command.withExamples([
      {
        command:
          "govoice ksef offline-certificate put --organization org_… --certificate offline.crt --private-key offline.key",
        description: "Store a certificate, and prompt for the password of an encrypted key"
      }
    ])
  )

const showOfflineCertificate = (env: EnvironmentVariables) =>
  Command.make("show", { organization, json }, (flags) => fromOfflineCertificate(({ show }) => show(env, flags))).pipe(
    Command.withDescription("Describe the offline certificate of an organization, without its key.")
  )

const removeOfflineCertificate = (env: EnvironmentVariables) =>
  Command.make("remove", { organization }, (flags) => fromOfflineCertificate(({ remove }) => remove(env, flags))).pipe(
    Command.withDescription("Remove the offline certificate of an organization.")
  )

const offlineCertificate = (env: EnvironmentVariables) =>
  Command.make("offline-certificate").pipe(
    Command.withDescription("Certificates with which organizations issue invoices offline."),
    Command.withSubcommands([putOfflineCertificate(env), showOfflineCertificate(env), removeOfflineCertificate(env)])
  )

const check = (env: EnvironmentVariables) =>
  Command.make("check", { organization, json }, (flags) => fromKsef(({ check }) => check(env, flags))).pipe(
    Command.withDescription(
      "Log in with the credential of an organization, read its permissions and limits, and log out. Sends no invoice. Exits with 1 when the login is refused or may not send invoices."
    ),
    Command.withShortDescription("Log in with the credential of an organization.")
  )

const settle = (env: EnvironmentVariables) =>
  Command.make(
    "settle",
    {
      invoice: Flag.String("invoice").pipe(Flag.withDescription("The invoice, inv_…, as the API names it.")),
      failed: Flag.Boolean("failed").pipe(
        Flag.withDescription("Decide that the invoice failed. This is the only outcome that an operator can decide."),
        Flag.withDefault(false)
      )
    },
    (flags) => fromKsef(({ settle }) => settle(env, flags))
  ).pipe(
    Command.withDescription(
      "Decide that a submitted invoice failed. KSeF has given it a status that is not documented, and Govoice polls it until an operator decides. Look the invoice up in KSeF first: one that KSeF accepted must not be submitted again. Any other invoice is refused."
    ),
    Command.withShortDescription("End an invoice that is stuck in an undocumented status."),
    Command.withExamples([
      { command: "govoice ksef settle --invoice inv_… --failed", description: "The invoice failed" }
    ])
  )

const ksef = (env: EnvironmentVariables) =>
  Command.make("ksef").pipe(
    Command.withDescription("The national system (KSeF): credentials, lanes, and invoices that wait."),
    Command.withSubcommands([status(env), credential(env), offlineCertificate(env), check(env), settle(env)])
  )

const prune = (env: EnvironmentVariables) =>
  Command.make("prune", {}, () => fromPrune(({ prune }) => prune(env))).pipe(
    Command.withDescription(
      "Delete records past their retention, and print how many: weeks of events with their deliveries after GOVOICE_EVENT_RETENTION_DAYS, idempotency records after 30 days, refresh tokens a day after they expired, sessions that have none left, API keys 7 days after they were revoked or expired, and webhook endpoints 7 days after they were deleted, if no delivery of theirs is left. Workers do so every hour. Work that is not complete is kept, and so are all invoices, documents and receipts."
    ),
    Command.withShortDescription("Delete records past their retention.")
  )

const notices = (env: EnvironmentVariables) =>
  Command.make("notices", { json }, (flags) => fromNotices(({ list }) => list(env, flags))).pipe(
    Command.withDescription(
      "Print what owners should know now: endpoints that have failed for six hours or were switched off, credentials and offline certificates that expire within 30 days, and logins by token that end. Where GOVOICE_SMTP_URL is set, each owner is mailed this once."
    ),
    Command.withShortDescription("Print what owners should know.")
  )

const checkInvoice = Command.make(
  "check-invoice",
  {
    files: Argument.String("file").pipe(
      Argument.withDescription("Files with one document each. `-` reads standard input."),
      Argument.atLeast(1)
    ),
    environment: Flag.Literals("environment", ["test", "demo", "prod"]).pipe(
      Flag.withDescription("Environment of KSeF whose forms are accepted. `test` accepts FA (2) unchecked, too."),
      Flag.withDefault("prod")
    ),
    json: json.pipe(Flag.withDescription("Print one JSON object for each file.")),
    strict: Flag.Boolean("strict").pipe(
      Flag.withDescription("Also exit with 1 when a file has warnings."),
      Flag.withDefault(false)
    )
  },
  (flags) => fromCheckInvoice(({ checkFiles }) => checkFiles(flags))
).pipe(
  Command.withDescription(
    "Check invoice documents as the server checks those of live keys: well-formed XML, form, rules of KSeF, XML schema. Works offline. Each violation is printed with line, column and path. Exits with 1 when a file is not valid. Warnings mark what KSeF accepts but accounting rules do not, such as sums that differ; they affect the exit code only with --strict. KSeF decides about everything else: permissions, duplicates."
  ),
  Command.withShortDescription("Check invoice documents offline."),
  Command.withExamples([
    { command: "govoice check-invoice invoice.xml", description: "Check one document" },
    { command: "govoice check-invoice --json out/*.xml", description: "Check many, for a program" }
  ])
)

const settings = Command.make("settings", {}, () => fromSettings(({ list }) => list)).pipe(
  Command.withDescription("List every setting with its description and default. Settings are environment variables.")
)

const cellUrl = Flag.String("url").pipe(
  Flag.withDescription("URL of the API of this cell, as the proxy reaches it, such as http://10.0.0.1:3000.")
)

const initCells = (env: EnvironmentVariables) =>
  Command.make("init", { url: cellUrl }, (flags) => fromCells(({ init }) => init(env, flags))).pipe(
    Command.withDescription(
      "Make this deployment the control cell: it has the accounts, and creates organizations. It serves all buckets until another cell gets some. Can be run again, to change the URL."
    ),
    Command.withShortDescription("Make this deployment the control cell."),
    Command.withExamples([
      { command: "GOVOICE_CELL=a govoice cells init --url http://10.0.0.1:3000", description: "Begin with cell a" }
    ])
  )

const addCell = (env: EnvironmentVariables) =>
  Command.make("add", { url: cellUrl }, (flags) => fromCells(({ add }) => add(env, flags))).pipe(
    Command.withDescription(
      "Add this deployment as another cell: accounts, sessions, organizations and the directory are replicated to its empty database, and it gets an equal share of the buckets that have no organizations. GOVOICE_CONTROL_DATABASE_URL names the database of the control cell. Can be run again, to change a URL."
    ),
    Command.withShortDescription("Add this deployment as another cell."),
    Command.withExamples([
      { command: "GOVOICE_CELL=b govoice cells add --url http://10.0.0.2:3000", description: "Add cell b" }
    ])
  )

const cellsStatus = (env: EnvironmentVariables) =>
  Command.make("status", { json }, (flags) => fromCells(({ status }) => status(env, flags))).pipe(
    Command.withDescription(
      "Show the cells with their buckets and organizations, and the moves out of this cell that have not ended; in the control cell also how far each other cell has replicated, and in the others their subscription."
    ),
    Command.withShortDescription("Show the cells and the replication between them.")
  )

const cellsProxy = (env: EnvironmentVariables) =>
  Command.make("proxy", {}, () => fromCells(({ proxy }) => proxy(env))).pipe(
    Command.withDescription(
      "Print the part of an nginx configuration that sends each request to its cell. deploy/cells in the package has the rest."
    ),
    Command.withShortDescription("Print the configuration of the proxy in front of the cells."),
    Command.withExamples([
      {
        command: "GOVOICE_CELL=a govoice cells proxy > govoice-cells.conf",
        description: "Write the file that nginx includes"
      }
    ])
  )

const moveOrganization = (env: EnvironmentVariables) =>
  Command.make(
    "move",
    {
      organization: Argument.String("organization").pipe(Argument.withDescription("The organization, org_….")),
      to: Flag.String("to").pipe(Flag.withDescription("The cell to which it moves.")),
      abort: Flag.Boolean("abort").pipe(
        Flag.withDescription("End a move that was begun: possible until the directory has changed."),
        Flag.withDefault(false)
      )
    },
    (given) => fromCellsMove(({ move }) => move(env, given))
  ).pipe(
    Command.withDescription(
      "Move an organization to another cell while both work. Run it with the settings of the cell that it leaves, and with GOVOICE_TARGET_DATABASE_URL. The organizations that share its bucket, and those with the same taxpayers, move with it. Submissions are refused for about a second, with 503 and Retry-After. A move that was interrupted goes on when the same command is run again."
    ),
    Command.withShortDescription("Move an organization to another cell."),
    Command.withExamples([
      {
        command: "govoice cells move org_01kq5v4zfxe1r8t0m3n5p7q9sv --to b",
        description: "Move one organization to cell b, or continue to do so"
      },
      {
        command: "govoice cells move org_01kq5v4zfxe1r8t0m3n5p7q9sv --to b --abort",
        description: "Leave it where it is"
      }
    ])
  )

const cells = (env: EnvironmentVariables) =>
  Command.make("cells").pipe(
    Command.withDescription(
      "Cells are deployments behind one proxy, each with its own Postgres, for more writes than one Postgres can handle. The guide on growing tells when and how."
    ),
    Command.withShortDescription("Spread organizations over several deployments."),
    Command.withSubcommands([initCells(env), addCell(env), cellsProxy(env), cellsStatus(env), moveOrganization(env)])
  )

/** The command, for these environment variables. */
export const govoice = (env: EnvironmentVariables) =>
  Command.make("govoice").pipe(
    Command.withDescription(
      "Govoice: e-invoice submission that loses nothing, and signed webhooks. Start with `govoice dev`: it needs no database and no settings. Exit codes: 0 success, 1 failure, 2 usage error, 130 interrupted."
    ),
    Command.withSubcommands([
      dev(env),
      serve(env),
      doctor(env),
      migrate(env),
      account(env),
      organizations(env),
      keys(env),
      ksef(env),
      notices(env),
      prune(env),
      cells(env),
      checkInvoice,
      settings
    ]),
    Command.withExamples([
      { command: "govoice dev", description: "Try everything here, on an embedded Postgres" },
      { command: "govoice serve", description: "Run the server here, on an embedded Postgres" },
      { command: "govoice doctor", description: "See whether a deployment has what it needs" },
      { command: "govoice account create owner@example.com --organization Example", description: "A first API key" }
    ])
  )
