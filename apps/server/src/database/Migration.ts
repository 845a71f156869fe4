/** The form of a migration. */
import { createHash } from "node:crypto"

interface Step {
  /** Its place in the order: 1, 2, 3 and so on. */
  readonly id: number
  readonly name: string
  /**
   * The oldest migration that a process must know to work on a schema with this one. A process that knows less is refused.
   * It is `id` for a migration that takes away what older processes use.
   */
  readonly oldestCompatible: number
}

/** Statements that run in one transaction, each with a short wait for its locks. */
export interface Statements extends Step {
  readonly statements: ReadonlyArray<string>
}

/**
 * Indexes that are built one after the other with CREATE INDEX CONCURRENTLY, outside of a transaction, while processes read and
 * write the table.
 */
export interface Indexes extends Step {
  /** By name: what follows the name, such as `ON invoices (status, id)`. */
  readonly indexes: Readonly<Record<string, string>>
}

export type Migration = Statements | Indexes

/** The checksum of what a migration executes, in hex. It is stored with the migration when it is applied. */
export const checksum = (migration: Migration): string =>
  createHash("sha256")
    .update(JSON.stringify("statements" in migration ? migration.statements : migration.indexes))
    .digest("hex")
