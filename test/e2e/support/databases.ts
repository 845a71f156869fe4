/** The databases of the tests. Each call of `open` returns a new one. */
import { create, createMigrated } from "../../support/databases.ts"
import { secrets } from "./server.ts"

export interface TestDatabase {
  readonly settings: Readonly<Record<string, string>>
  readonly drop: () => Promise<void>
}

/** Opens an empty database, which a server migrates when it starts. */
export const openEmpty = async (): Promise<TestDatabase> => {
  const { drop, url } = await create()
  return { settings: { DATABASE_URL: url, ...secrets }, drop }
}

/** Opens a migrated database. A server on it starts with a third of the processor time that an embedded database takes. */
export const openMigrated = async (): Promise<TestDatabase> => {
  const { drop, url } = await createMigrated()
  return { settings: { DATABASE_URL: url, ...secrets }, drop }
}

/** The embedded database, in memory. */
export const openEmbedded = (): Promise<TestDatabase> =>
  Promise.resolve({ settings: { GOVOICE_DATA_DIR: "memory" }, drop: () => Promise.resolve() })

/** What the server of a test runs on. */
export interface DatabaseOfRun {
  readonly name: string
  readonly open: () => Promise<TestDatabase>
}

/** The database of the run, for suites that every database has to pass: the long tests have the embedded one. */
export const databaseOfRun: DatabaseOfRun =
  process.env["DATABASE"] === "embedded"
    ? { name: "the embedded database", open: openEmbedded }
    : { name: "Postgres", open: openMigrated }
