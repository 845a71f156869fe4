/**
 * Databases on the server of the run, for suites that start programs. They are made without Effect, which takes a process most of
 * a second to load.
 */
import { randomBytes } from "node:crypto"
import { join } from "node:path"
import { Client } from "pg"
import { inject } from "vitest"
import { onceInRun } from "./onceInRun.ts"

/** A database that its suite drops. */
export interface RunDatabase {
  readonly url: string
  /** Runs a statement, and returns its rows. */
  readonly run: (statement: string) => Promise<ReadonlyArray<unknown>>
  readonly drop: () => Promise<void>
}

const run = async (url: string, statement: string): Promise<ReadonlyArray<unknown>> => {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(statement)).rows
  } finally {
    await client.end()
  }
}

const administer = (statement: string) => run(inject("databaseUrl"), statement)

const withName = (name: string): string => {
  const url = new URL(inject("databaseUrl"))
  url.pathname = `/${name}`
  return url.href
}

/** Creates a database from a template, and returns its URL. */
export const createFrom = async (template: string): Promise<RunDatabase> => {
  const name = `test_${Date.now()}_${randomBytes(4).toString("hex")}`
  await administer(`CREATE DATABASE ${name} TEMPLATE ${template}`)
  const url = withName(name)
  return {
    url,
    run: (statement) => run(url, statement),
    drop: async () => void (await administer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`))
  }
}

/** Creates an empty database. */
export const create = (): Promise<RunDatabase> => createFrom("template1")

/** The name of the template, which the first suite of the run migrates. */
export const templateDatabase = async (): Promise<string> => {
  const name = inject("templateDatabase")
  await onceInRun(join(inject("runFolder"), "postgres"), async () => {
    await administer(`CREATE DATABASE ${name}`)
    const { migrate } = await import("../../apps/server/test/support/TestDatabase.ts")
    await migrate(withName(name))
  })
  return name
}

/** Creates a database that is migrated. */
export const createMigrated = async (): Promise<RunDatabase> => createFrom(await templateDatabase())
