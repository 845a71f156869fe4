/** The databases of the tests. Each call of `open` returns a new one. */
import { create, createMigrated } from "../../../apps/server/test/support/TestDatabase.ts"
import { secrets } from "./server.ts"

export interface TestDatabase {
  readonly settings: Readonly<Record<string, string>>
  readonly drop: () => Promise<void>
}

const postgres = async (): Promise<TestDatabase> => {
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
  { name: "Postgres", open: postgres },
  { name: "the embedded database", open: embedded }
] as const
