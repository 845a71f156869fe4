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

const embedded = (): Promise<TestDatabase> =>
  Promise.resolve({ settings: { GOVOICE_DATA_DIR: "memory" }, drop: () => Promise.resolve() })

export const databases = [
  { name: "Postgres", open: openMigrated },
  { name: "the embedded database", open: embedded }
] as const
