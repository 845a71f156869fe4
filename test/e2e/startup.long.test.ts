/**
 * A start that fails or waits writes one line with the cause and the remedy, and no stack. `migrate` and `doctor` open the
 * database as `serve` does: the suite starts them with two of the wrong settings, the long tests (`STARTS=all`) with each.
 */
import { spawnSync } from "node:child_process"
import { randomUUID } from "node:crypto"
import { once } from "node:events"
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync
} from "node:fs"
import { type AddressInfo, createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseEnv } from "node:util"
import { Client, Pool } from "pg"
import { afterAll, assert, beforeAll, describe, inject, it } from "vitest"
import { create, createMigrated } from "../support/databases.ts"
import { freePort } from "../support/freePort.ts"
import { ServerProcess } from "../support/serverProcess.ts"
import { builtCommand } from "./support/build.ts"
import { makeCall, password, readAgreement, signUp, submit } from "./support/client.ts"
import { startProxy } from "./support/proxy.ts"
import { resetPassword } from "./support/resetPassword.ts"
import { launchServer, secrets, startAndFail, startServer } from "./support/server.ts"
import { patienceMs } from "../support/patienceMs.ts"

type Settings = Readonly<Record<string, string>>

const govoice = async (command: string, settings: Settings) => {
  const process_ = new ServerProcess([await builtCommand(), ...command.split(" ")], settings)
  const timer = setTimeout(() => void process_.kill(), 100_000)
  const exitCode = await process_.exited
  clearTimeout(timer)
  return { exitCode, stdout: process_.stdout, stderr: process_.stderr, output: process_.text }
}

const isEveryStart = process.env["STARTS"] === "all"

const assertNoStack = (output: string): void => assert.notMatch(output, /^\s+at /m)

let administrator: Pool
let folder: string

beforeAll(() => {
  administrator = new Pool({ connectionString: inject("databaseUrl"), max: 1 })
  folder = mkdtempSync(join(tmpdir(), "govoice-startup-"))
})

afterAll(async () => {
  await administrator.end()
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
})

const changed = (changes: (url: URL) => void): string => {
  const url = new URL(inject("databaseUrl"))
  changes(url)
  return url.href
}

describe("a deployment with wrong settings", () => {
  const user = `limited_${randomUUID().slice(0, 8)}`
  let limited: Awaited<ReturnType<typeof create>>

  beforeAll(async () => {
    limited = await create()
    await administrator.query(`CREATE ROLE ${user} LOGIN PASSWORD 'limited-password'`)
  })
  afterAll(async () => {
    await limited.drop()
    await administrator.query(`DROP ROLE ${user}`)
  })

  const asLimitedUser = () => {
    const url = new URL(limited.url)
    url.username = user
    url.password = "limited-password"
    return url.href
  }

  const file = () => {
    const path = join(folder, "file")
    writeFileSync(path, "")
    return path
  }

  const damaged = () => {
    const path = join(folder, "damaged")
    mkdirSync(join(path, "postgres"), { recursive: true })
    writeFileSync(join(path, "postgres", "PG_VERSION"), "9\n")
    return path
  }

  const dataDirWith = (name: string, fill: (path: string) => void) => () => {
    const dataDir = mkdtempSync(join(folder, "with-"))
    fill(join(dataDir, name))
    return { GOVOICE_DATA_DIR: dataDir }
  }
  const directory = (path: string) => mkdirSync(path)
  const content = (text: string) => (path: string) => writeFileSync(path, text)
  const dangling = (path: string) => {
    rmSync(path, { force: true })
    symlinkSync(`${path}-nowhere`, path)
  }

  const inDataDir: ReadonlyArray<readonly [string, () => Settings, RegExp]> = [
    [
      "a directory in place of the lock",
      dataDirWith("lock.json", directory),
      /lock\.json (?:cannot be written \(EISDIR.*\)|is not a file)\. Move it away/
    ],
    [
      "a directory in place of the secrets",
      dataDirWith("secrets.json", directory),
      /secrets\.json (?:cannot be read \(EISDIR.*\)|is not a file)\. Move it away/
    ],
    [
      "secrets that are none",
      dataDirWith("secrets.json", content('{"GOVOICE_JWT_SECRET":"a","GOVOICE_ENCRYPTION_KEYS":"b"}')),
      /secrets\.json does not have the secrets of this deployment\. Restore it/
    ],
    [
      "a file in place of the database",
      dataDirWith("postgres", content("")),
      /postgres (?:cannot be used \(EEXIST\)|is not a directory)\. M/
    ],
    [
      "a directory in place of the marker of an incomplete database",
      dataDirWith("postgres.incomplete", directory),
      /postgres\.incomplete(?:'\)| is not a file)\. Move it away/
    ],
    [
      "a link to nowhere in place of the data directory",
      () => {
        dangling(join(folder, "link"))
        return { GOVOICE_DATA_DIR: join(folder, "link") }
      },
      /link cannot be used \(ENOENT\)/
    ]
  ]

  const cases: ReadonlyArray<readonly [string, () => Settings, RegExp]> = [
    [
      "a database that does not exist",
      () => ({ ...secrets, DATABASE_URL: changed((url) => (url.pathname = "/missing")) }),
      /database "missing" does not exist\. Create it \(CREATE DATABASE "missing"\)/
    ],
    [
      "a wrong user",
      () => ({ ...secrets, DATABASE_URL: changed((url) => (url.username = "stranger")) }),
      /(?:authentication failed for user|role) "stranger".*Correct the user/
    ],
    [
      "a user without the right to create tables",
      () => ({ ...secrets, DATABASE_URL: asLimitedUser() }),
      new RegExp(
        `user ${user} may not create tables in schema public .*GRANT USAGE, CREATE ON SCHEMA public TO "${user}"`
      )
    ],
    [
      "a host that offers no TLS, where TLS is the default",
      () => ({ ...secrets, DATABASE_URL: changed((url) => (url.hostname = "0.0.0.0")) }),
      /does not support TLS\. .*sslmode=disable/
    ],
    ["a data directory below a file", () => ({ GOVOICE_DATA_DIR: join(file(), "data") }), /cannot be used \(ENOTDIR\)/],
    ["a data directory in /proc", () => ({ GOVOICE_DATA_DIR: "/proc/x" }), /\/proc\/x cannot be used \(ENOENT\)/],
    ["a damaged data directory", () => ({ GOVOICE_DATA_DIR: damaged() }), /cannot open .*damaged\/postgres \(/],
    ...inDataDir
  ]

  it.each(cases)("stops `serve` with one line: %s", async (_, settings, expected) => {
    const { exitCode, stderr, stdout } = await startAndFail(settings())
    assert.strictEqual(exitCode, 1, stderr + stdout)
    assert.match(stderr, expected)
    assert.lengthOf(stderr.trimEnd().split("\n"), 1, stderr)
    assertNoStack(stderr + stdout)
    assert.notMatch(stderr + stdout, /limited-password|postgres:postgres/)
  })

  const hasRight = "a user without the right to create tables"
  const damage = "a damaged data directory"
  // `migrate` reads no secrets.
  const commandCases = cases.filter(([name]) =>
    isEveryStart ? !name.includes("secrets") : name === hasRight || name === damage
  )

  it.each(commandCases)("stops `migrate` with one line, and `doctor` finds it: %s", async (_, settings, expected) => {
    const migrate = await govoice("migrate", settings())
    assert.strictEqual(migrate.exitCode, 1, migrate.output)
    assert.match(migrate.stderr, expected)
    assertNoStack(migrate.output)
    const doctor = await govoice("doctor", settings())
    assert.strictEqual(doctor.exitCode, 1, doctor.output)
    assert.match(doctor.stdout, /^FAIL /m)
    assertNoStack(doctor.output)
  })
})

describe("a data directory", () => {
  // The faults of a data directory are the same for each command: `doctor` names them without a start.
  const faults: ReadonlyArray<readonly [string, RegExp, (dataDir: string) => void]> = [
    ["lock.json", /lock\.json is not a file\./, (path) => mkdirSync(path)],
    ["secrets.json", /secrets\.json is not a file\./, (path) => mkdirSync(path)],
    [
      "secrets.json",
      /secrets\.json does not have the secrets of this deployment\./,
      (path) => writeFileSync(path, '{"GOVOICE_JWT_SECRET":"a","GOVOICE_ENCRYPTION_KEYS":"b"}')
    ],
    ["postgres", /postgres is not a directory\./, (path) => writeFileSync(path, "")]
  ]

  it.each(faults)("has a wrong %s, which `doctor` names", async (name, expected, spoil) => {
    const dataDir = mkdtempSync(join(folder, "doctor-"))
    spoil(join(dataDir, name))
    const { exitCode, output } = await govoice("doctor", { GOVOICE_DATA_DIR: dataDir })
    assert.strictEqual(exitCode, 1)
    assert.match(output, expected)
    assertNoStack(output)
  })

  it("loses what killed processes left, and nothing else", async () => {
    const dataDir = join(folder, "drafts")
    mkdirSync(dataDir)
    const [old, other] = [new Date(Date.now() - 60_000), "secrets.json.backup"]
    for (const name of ["secrets.json.0123456789ab", "lock.json.0123456789abcdef", other]) {
      writeFileSync(join(dataDir, name), "")
      utimesSync(join(dataDir, name), old, old)
    }
    const server = await startServer({ GOVOICE_DATA_DIR: dataDir })
    assert.sameMembers(readdirSync(dataDir), ["lock.json", other, "postgres", "secrets.json"])
    assert.strictEqual(await server.stop(), 0)
  })

  // A file system of 64 KiB in a namespace of its own.
  const inNamespace = ["--user", "--map-root-user", "--mount"]
  const canMount = spawnSync("unshare", [...inNamespace, "mount", "-t", "tmpfs", "tmpfs", "/mnt"]).status === 0

  it.skipIf(!canMount).each([
    ["full", "head -c 1M /dev/zero > $0/filler"],
    ["too small for a database", "true"]
  ])("is %s: one line with the cause and the remedy, and no file that was not there", async (name, fill) => {
    const dataDir = join(folder, `small-${name.length}`)
    mkdirSync(dataDir)
    const script = `mount -t tmpfs -o size=64k tmpfs $0; ${fill}; for command in serve doctor; do PORT=0 GOVOICE_DATA_DIR=$0 "$@" $command; echo "exit code $?"; done; ls -A $0`
    const command = [process.execPath, await builtCommand()]
    const { stdout } = spawnSync("unshare", [...inNamespace, "bash", "-c", `(${script}) 2>&1`, dataDir, ...command], {
      encoding: "utf8"
    })
    assert.strictEqual(stdout.match(/exit code 1/g)?.length, 2, stdout)
    assert.match(stdout, /^\S.*ENOSPC.*\. Free space on its disk, or set GOVOICE_DATA_DIR/m)
    assert.match(stdout, /^FAIL {2}database .*ENOSPC.*\. Free space on its disk/m)
    assertNoStack(stdout)
    const left = stdout.slice(stdout.lastIndexOf("exit code 1")).split("\n").slice(1, -1)
    assert.isEmpty(left.filter((file) => !["filler", "postgres", "postgres.incomplete", "secrets.json"].includes(file)))
  })
})

describe("`doctor`", () => {
  it("warns of an address in use, and fails for one that this machine does not have", async () => {
    const other = createServer().listen(0, "127.0.0.1")
    await once(other, "listening")
    const port = String((other.address() as AddressInfo).port)
    const used = await govoice("doctor", { GOVOICE_DATA_DIR: "memory", PORT: port })
    other.close()
    assert.strictEqual(used.exitCode, 0, used.output)
    assert.match(used.stdout, new RegExp(`^WARN {2}listen +Another process listens at 127\\.0\\.0\\.1:${port}\\.`, "m"))
    const foreign = await govoice("doctor", {
      GOVOICE_DATA_DIR: "memory",
      HOST: "192.0.2.1",
      GOVOICE_METRICS_PORT: port
    })
    assert.strictEqual(foreign.exitCode, 1, foreign.output)
    assert.match(foreign.stdout, /^FAIL {2}listen +The server cannot listen: .*EADDRNOTAVAIL/m)
    assert.include(foreign.stdout, "Set HOST to an address of this machine.")
  })
})

describe("a start without the database", () => {
  it("waits with one log line until the database accepts connections", async () => {
    const database = await create()
    const proxy = await startProxy(database.url)
    try {
      proxy.cut()
      const port = await freePort()
      const metricsPort = await freePort()
      const server = await launchServer({
        DATABASE_URL: proxy.url,
        ...secrets,
        PORT: String(port),
        GOVOICE_METRICS_PORT: String(metricsPort)
      })
      for (const deadline = Date.now() + patienceMs; !server.stdout.includes("Database unavailable");) {
        assert.isBelow(Date.now(), deadline, server.text)
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
      await new Promise((resolve) => setTimeout(resolve, 4000))
      assert.isNull(server.child.exitCode, server.text)
      const ask = async (path: string) => {
        const response = await fetch(`http://127.0.0.1:${port}${path}`)
        return { status: response.status, text: await response.text() }
      }
      assert.strictEqual((await ask("/healthz")).status, 200)
      for (const path of ["/readyz", "/v1/me"]) {
        const { status, text } = await ask(path)
        assert.strictEqual(status, 503)
        assert.include(text, "The server is waiting for the database.")
      }
      assert.strictEqual((await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).status, 200)
      proxy.open()
      await server.started()
      assert.strictEqual((await ask("/readyz")).status, 200)
      const lines = server.log.filter(({ level }) => level === "WARN")
      assert.deepStrictEqual(
        lines.map(({ message }) => message),
        ["Database unavailable; waiting up to 30000 ms"]
      )
      assert.strictEqual(await server.stop(), 0)
    } finally {
      proxy.close()
      await database.drop()
    }
  })

  it.each(["schema_migrations", "organizations"])("waits with one log line while %s is locked", async (table) => {
    const database = await createMigrated()
    const holder = new Client({ connectionString: database.url })
    await holder.connect()
    const lock = () => holder.query(`BEGIN; LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`)
    try {
      await lock()
      const port = await freePort()
      const server = await launchServer({
        DATABASE_URL: database.url,
        ...secrets,
        GOVOICE_KSEF_ENVIRONMENT: "test",
        PORT: String(port)
      })
      const awaitReason = async (reason: string) => {
        for (const deadline = Date.now() + patienceMs; ;) {
          const text = await fetch(`http://127.0.0.1:${port}/readyz`).then(
            (response) => response.text(),
            () => ""
          )
          if (text.includes(reason)) return
          assert.isNull(server.child.exitCode, server.text)
          assert.isBelow(Date.now(), deadline, text + server.text)
          await new Promise((resolve) => setTimeout(resolve, 50))
        }
      }
      await awaitReason("The server is waiting for a lock on a table, which another session holds.")
      // Another attempt fails meanwhile.
      await new Promise((resolve) => setTimeout(resolve, 4000))
      assert.isNull(server.child.exitCode, server.text)
      await holder.query("ROLLBACK")
      await server.started()
      const messages = server.log.map(({ level, message }) => `${level} ${message}`)
      assert.deepStrictEqual(messages.slice(0, 2), [
        "WARN Database unavailable; waiting up to 30000 ms",
        "INFO Database available"
      ])
      assert.lengthOf(
        messages.filter((message) => message.startsWith("WARN")),
        1,
        server.text
      )
      await lock()
      await awaitReason("or a table is locked")
      await holder.query("ROLLBACK")
      assert.strictEqual(await server.stop(), 0)
    } finally {
      await holder.end()
      await database.drop()
    }
  })

  it("exits with 1 after GOVOICE_DATABASE_WAIT_MS", async () => {
    const startedAt = Date.now()
    const { exitCode, stderr, stdout } = await startAndFail({
      DATABASE_URL: "postgres://postgres:hidden@127.0.0.1:1/x",
      GOVOICE_DATABASE_WAIT_MS: "2000",
      ...secrets
    })
    assert.strictEqual(exitCode, 1)
    assert.isAbove(Date.now() - startedAt, 2000)
    assert.match(stderr, /^Postgres at 127\.0\.0\.1:1 cannot be reached: connect ECONNREFUSED.*\n$/)
    assert.lengthOf(stdout.trimEnd().split("\n"), 1, stdout)
    assert.notInclude(stderr + stdout, "hidden")
    assertNoStack(stderr + stdout)
  })
})

describe("a database whose encoding has no Polish letters", () => {
  it("is refused by every command that opens it, before it is migrated", async () => {
    const name = `latin_${Date.now()}`
    await administrator.query(`CREATE DATABASE ${name} ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0`)
    const url = new URL(inject("databaseUrl"))
    url.pathname = `/${name}`
    try {
      const { exitCode, stderr } = await startAndFail({ DATABASE_URL: url.href, ...secrets })
      assert.strictEqual(exitCode, 1)
      assert.match(stderr, /^The database latin_\d+ has the encoding LATIN1, expected UTF8: .*ENCODING 'UTF8'.*\n$/)
      const migrated = await govoice("migrate", { DATABASE_URL: url.href, ...secrets })
      assert.strictEqual(migrated.exitCode, 1, migrated.output)
      assert.include(migrated.stderr, "has the encoding LATIN1")
    } finally {
      await administrator.query(`DROP DATABASE ${name} WITH (FORCE)`)
    }
  })
})

describe("a schema of edited migrations", () => {
  it("is refused by every command, and makes a running process unready", async () => {
    const database = await create()
    const settings = { DATABASE_URL: database.url, PORT: "0", ...secrets }
    try {
      const server = await startServer(settings)
      await database.run("UPDATE schema_migrations SET checksum = repeat('0', 64)")
      for (const deadline = Date.now() + patienceMs; ;) {
        const response = await fetch(`${server.url}/readyz`)
        if (response.status === 503) {
          assert.include(await response.text(), "The database schema does not match this version of the server.")
          break
        }
        assert.isBelow(Date.now(), deadline)
        await new Promise((resolve) => setTimeout(resolve, 200))
      }
      assert.strictEqual(await server.stop(), 0)
      const commands = ["serve", "migrate", "migrate --check", "doctor"]
      for (const { exitCode, output } of await Promise.all(commands.map((command) => govoice(command, settings)))) {
        assert.strictEqual(exitCode, 1, output)
        assert.match(
          output,
          /The schema is not one of this version of Govoice: migration 1 is schema with checksum 00000000/
        )
        assertNoStack(output)
      }
    } finally {
      await database.drop()
    }
  })
})

describe("standard output of `serve`", () => {
  it("has JSON lines only, and one line each for the begin and the end of an outage", async () => {
    const database = await create()
    const proxy = await startProxy(database.url)
    try {
      const server = await startServer({ DATABASE_URL: proxy.url, ...secrets })
      const call = makeCall(() => server.url, await readAgreement(server.url))
      const { testKey } = await signUp(call)
      await submit(call, testKey)
      proxy.cut()
      // Much shorter than the 30 seconds after which the log counts the failures of an outage.
      for (let time = 0; time < 10; time++) await submit(call, testKey)
      proxy.open()
      const deadline = Date.now() + patienceMs
      const messages = () => server.log().map(({ message }) => message)
      while (!messages().includes("Database available again") && Date.now() < deadline) {
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
      assert.deepStrictEqual(messages(), ["Server started", "Database unavailable", "Database available again"])
      const last = server.log().at(-1)!.annotations as { readonly failures: number }
      assert.isAbove(last.failures, 8)
      assertNoStack(server.output())
      assert.strictEqual(await server.stop(), 0)
    } finally {
      proxy.close()
      await database.drop()
    }
  })

  it("has JSON lines only with the embedded database", async () => {
    const server = await startServer({ GOVOICE_DATA_DIR: join(folder, "plain") })
    assert.deepStrictEqual(
      server.log().map(({ message }) => message),
      ["Server started"]
    )
    assert.strictEqual(await server.stop(), 0)
    server.log()
  })
})

describe("the files of the embedded database", () => {
  const filesBelow = (path: string): ReadonlyArray<string> =>
    readdirSync(path, { withFileTypes: true }).flatMap((entry) =>
      entry.isDirectory() ? filesBelow(join(path, entry.name)) : [join(path, entry.name)]
    )

  it("are readable by their owner only, also in an existing directory that everyone can read", async () => {
    const dataDir = join(folder, "shared")
    mkdirSync(dataDir, { mode: 0o777 })
    const server = await startServer({ GOVOICE_DATA_DIR: dataDir })
    const call = makeCall(() => server.url, await readAgreement(server.url))
    await submit(call, (await signUp(call)).testKey)
    assert.strictEqual(statSync(join(dataDir, "postgres")).mode & 0o777, 0o700)
    const files = filesBelow(dataDir)
    assert.isAbove(files.length, 500)
    assert.deepStrictEqual(
      // The server runs, and may have removed a file meanwhile.
      files.filter((path) => ((statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o077) !== 0),
      []
    )
    assert.strictEqual(await server.stop(), 0)
  })
})

describe("`keys rotate`", () => {
  const key = (id: string, byte: number) => `${id}:${Buffer.alloc(32, byte).toString("base64")}`
  const { GOVOICE_JWT_SECRET } = secrets
  const lines = (stdout: string) => stdout.split("\n").filter((line) => !line.startsWith("# ") && line !== "")

  it("prints the lines to change with every old key in them, and no other secret", async () => {
    const old = `${key("k2", 2)},${key("k1", 1)}`
    const { exitCode, stdout } = await govoice("keys rotate", { GOVOICE_JWT_SECRET, GOVOICE_ENCRYPTION_KEYS: old })
    assert.strictEqual(exitCode, 0)
    const [, added] = /,(k3:[A-Za-z0-9+/]{43}=)$/m.exec(stdout)!
    assert.deepStrictEqual(lines(stdout), [`GOVOICE_ENCRYPTION_KEYS=${old},${added}`])
    assert.include(stdout, `\n#    GOVOICE_ENCRYPTION_KEYS=${added},${old}\n`)
    assert.notInclude(stdout, "JWT")
    // Appended to the file of the settings as it is.
    const file = join(folder, "rotated.env")
    writeFileSync(file, `GOVOICE_ENCRYPTION_KEYS=${old}\n${stdout}`)
    assert.strictEqual(parseEnv(readFileSync(file, "utf8"))["GOVOICE_ENCRYPTION_KEYS"], `${old},${added}`)
  })

  it("prints the contents of a file where the keys are in one", async () => {
    const file = join(folder, "encryption_keys")
    writeFileSync(file, `${key("k1", 1)}\n`)
    const { stdout } = await govoice("keys rotate --id next", { GOVOICE_ENCRYPTION_KEYS_FILE: file })
    assert.match(lines(stdout).join(), /^k1:\S{44},next:\S{44}$/)
    assert.include(stdout, "GOVOICE_ENCRYPTION_KEYS_FILE")
  })

  it("prints the values of the file where the keys are beside an embedded database", async () => {
    const dataDir = join(folder, "stored")
    mkdirSync(dataDir)
    const path = join(dataDir, "secrets.json")
    writeFileSync(path, JSON.stringify({ GOVOICE_JWT_SECRET, GOVOICE_ENCRYPTION_KEYS: key("k1", 1) }), { mode: 0o600 })
    const { stdout } = await govoice("keys rotate", { GOVOICE_DATA_DIR: dataDir })
    assert.include(stdout, `# 1. Replace the value of GOVOICE_ENCRYPTION_KEYS in ${path} by this one`)
    assert.match(lines(stdout).join(), /^"k1:\S{44},k2:\S{44}"$/)
  })

  it("refuses an id that is taken or malformed, and a deployment without keys", async () => {
    const settings = { GOVOICE_ENCRYPTION_KEYS: key("k1", 1), GOVOICE_DATA_DIR: join(folder, "keyless") }
    for (const [command, given, expected] of [
      ["keys rotate --id k1", settings, /^A key has the id k1 already\./],
      ["keys rotate --id a:b", settings, /^The id of a key must have 1 to 32 letters/],
      ["keys rotate", { GOVOICE_DATA_DIR: join(folder, "keyless") }, /^This deployment has no encryption keys yet/]
    ] as const) {
      const { exitCode, stderr, stdout } = await govoice(command, given)
      assert.deepStrictEqual([exitCode, stdout], [1, ""], stderr)
      assert.match(stderr, expected)
    }
    assert.strictEqual((await govoice("keys generate --id k2", {})).exitCode, 2)
  })
})

describe("`account reset-password`", () => {
  it("replaces the password from standard input, ends every session, and keeps API keys", async () => {
    const database = await create()
    const settings = { DATABASE_URL: database.url, ...secrets }
    try {
      const server = await startServer(settings)
      const call = makeCall(() => server.url, await readAgreement(server.url))
      const owner = await signUp(call)
      const logIn = async (password: string) =>
        (await call("POST", "/v1/control-plane/auth/login", { body: { email: owner.email, password } })).status

      for (const [email, refused, expected] of [
        [owner.email, "short", /^The password cannot be reset: password .*12/],
        ["nobody@example.com", "a password of 24 letters", /^No account has this email\. Check its spelling\.\n$/]
      ] as const) {
        const { exitCode, stderr, stdout } = await resetPassword(email, refused, settings)
        assert.deepStrictEqual([exitCode, stdout], [1, ""], stderr)
        assert.match(stderr, expected)
      }
      assert.strictEqual(await logIn(password), 200)

      const { exitCode, stderr, stdout } = await resetPassword(
        owner.email.toUpperCase(),
        "another password, new\n",
        settings
      )
      assert.strictEqual(exitCode, 0, stderr)
      assert.match(stdout, /^Password of acct_\w+ replaced; \d+ sessions ended\.\n$/)
      assert.strictEqual(await logIn(password), 401)
      assert.strictEqual(await logIn("another password, new"), 200)
      const body = { refresh_token: owner.refreshToken }
      assert.strictEqual((await call("POST", "/v1/control-plane/auth/refresh", { body })).status, 401)
      const me = await fetch(`${server.url}/v1/me`, { headers: { authorization: `Bearer ${owner.testKey}` } })
      assert.strictEqual(me.status, 200)
      assert.strictEqual(await server.stop(), 0)
    } finally {
      await database.drop()
    }
  })
})

describe("`organizations limit`", () => {
  it("sets the limit of one organization, within which its endpoints may have limits, and removes it", async () => {
    const database = await create()
    const settings = { DATABASE_URL: database.url, ...secrets }
    try {
      const server = await startServer(settings)
      const call = makeCall(() => server.url, await readAgreement(server.url))
      const { endpointId, organizationId, token } = await signUp(call)
      const limit = (of: string, to: string) => govoice(`organizations limit ${of} ${to}`, settings)
      const change = async (maxInFlight: number | null) =>
        (
          await call("PATCH", `/v1/control-plane/webhook-endpoints/${endpointId}`, {
            auth: token,
            body: { max_in_flight: maxInFlight }
          })
        ).text
      assert.match(await change(50), /max_in_flight: must be at most 10, the limit of the organization\./)

      for (const [of, to, expected] of [
        [organizationId, "0", /^Expected a limit from 1 to 10000 or 'default', found "0"\.\n$/],
        [organizationId, "10001", /found "10001"/],
        ["org_01kakd3zz0e5ksv2c8f4n6q9rt", "5", /^There is no organization "org_01kakd3zz0e5ksv2c8f4n6q9rt"\./],
        ["acct_1", "5", /^There is no organization "acct_1"\./]
      ] as const) {
        const { exitCode, stderr, stdout } = await limit(of, to)
        assert.deepStrictEqual([exitCode, stdout], [1, ""], stderr)
        assert.match(stderr, expected)
      }
      assert.strictEqual(
        (await limit(organizationId, "50")).stdout,
        `${organizationId} may have 50 deliveries in flight.\n`
      )
      assert.match(await change(50), /"max_in_flight":50/)
      assert.strictEqual(
        (await limit(organizationId, "default")).stdout,
        `${organizationId} may have 10 deliveries in flight, the limit of the deployment (GOVOICE_TENANT_CONCURRENCY).\n`
      )
      assert.match(await change(11), /must be at most 10/)
      assert.match(await change(null), /"max_in_flight":null/)
      assert.strictEqual(await server.stop(), 0)
    } finally {
      await database.drop()
    }
  })
})

describe("`keys rotate-encryption`", () => {
  it("names a key that is missing or wrong in one line, and changes nothing", async () => {
    const dataDir = join(folder, "rotated")
    const key = (id: string, byte: number) => `${id}:${Buffer.alloc(32, byte).toString("base64")}`
    const settings = { GOVOICE_DATA_DIR: dataDir, GOVOICE_ENCRYPTION_KEYS: key("k1", 1) }
    const server = await startServer(settings)
    await signUp(makeCall(() => server.url, await readAgreement(server.url)))
    assert.strictEqual(await server.stop(), 0)

    for (const [keys, expected] of [
      [key("k2", 2), /^GOVOICE_ENCRYPTION_KEYS lacks the key "k1"\. Put the keys .*\n$/],
      [`${key("k2", 2)},${key("k1", 3)}`, /^The key "k1" of GOVOICE_ENCRYPTION_KEYS is not the one .*\n$/]
    ] as const) {
      const { exitCode, stderr, stdout } = await govoice("keys rotate-encryption", {
        ...settings,
        GOVOICE_ENCRYPTION_KEYS: keys
      })
      assert.deepStrictEqual([exitCode, stdout], [1, ""], stderr)
      assert.match(stderr, expected)
    }
    const { stdout } = await govoice("keys rotate-encryption", settings)
    assert.strictEqual(stdout, "Re-encrypted 0 values with key k1.\n")
  })
})
