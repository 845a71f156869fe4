/**
 * A start that fails or waits writes one line with the cause and the remedy, and no stack. `migrate` and `doctor` open the
 * database as `serve` does: the suite starts them with two of the wrong settings, the long tests (`STARTS=all`) with each.
 */
import { randomUUID } from "node:crypto"
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Pool } from "pg"
import { afterAll, assert, beforeAll, describe, inject, it } from "vitest"
import { create } from "../support/databases.ts"
import { ServerProcess } from "../support/serverProcess.ts"
import { builtCommand } from "./support/build.ts"
import { makeCall, readAgreement, signUp, submit } from "./support/client.ts"
import { startProxy } from "./support/proxy.ts"
import { launchServer, secrets, startAndFail, startServer } from "./support/server.ts"

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
    ["a damaged data directory", () => ({ GOVOICE_DATA_DIR: damaged() }), /cannot open .*damaged\/postgres \(/]
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
  const commandCases = isEveryStart ? cases : cases.filter(([name]) => name === hasRight || name === damage)

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

describe("a start without the database", () => {
  it("waits with one log line until the database accepts connections", async () => {
    const database = await create()
    const proxy = await startProxy(database.url)
    try {
      proxy.cut()
      const server = await launchServer({ DATABASE_URL: proxy.url, ...secrets })
      for (const deadline = Date.now() + 50_000; !server.stdout.includes("Database unavailable");) {
        assert.isBelow(Date.now(), deadline, server.text)
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
      await new Promise((resolve) => setTimeout(resolve, 4000))
      assert.isNull(server.child.exitCode, server.text)
      proxy.open()
      await server.started()
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
      const deadline = Date.now() + 50_000
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
  }, 240_000)
})
