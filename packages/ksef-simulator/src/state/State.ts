/**
 * Everything that a simulator remembers, with or without a file that outlives it.
 */
import { randomBytes } from "node:crypto"
import type { Overrides } from "../openapi/rateLimits.ts"
import { Collection } from "./Collection.ts"
import { Files } from "./Files.ts"
import { inMemory, type Journal, type JournalRecord, openJournal } from "./Journal.ts"
import type {
  EncryptionKey,
  Enrollment,
  KsefToken,
  LedgerCall,
  Login,
  Permission,
  Session,
  Subject
} from "./records.ts"
import { Invoices } from "./Invoices.ts"
import { Serials } from "./Serials.ts"

/** How many calls a ledger keeps. The newest remain. */
export const keptCalls = 100_000

/** The changes of a context by `/testdata`. */
export interface ContextSettings {
  readonly context: string
  readonly blocked: boolean
  readonly attachments: boolean
  readonly rateLimits: Overrides | null
  readonly sessionLimits: SessionLimits | null
}

/** Bounds of the sessions of a context. A megabyte is 1,000,000 bytes. */
export interface SessionLimits {
  readonly onlineSession: SessionLimit
  readonly batchSession: SessionLimit
}

/** Bounds of one kind of session. */
export interface SessionLimit {
  readonly maxInvoiceSizeInMB: number
  readonly maxInvoiceWithAttachmentSizeInMB: number
  readonly maxInvoices: number
}

/** Rights that `/testdata/permissions` granted to somebody in a context. */
export interface Grant {
  readonly context: string
  readonly subject: Subject
  readonly permissions: ReadonlyArray<Permission>
}

/** What a taxpayer lets another one do for it. */
export interface Authorization {
  readonly id: string
  /** Who granted it on behalf of the taxpayer. */
  readonly author: Subject
  /** The NIP of the taxpayer. */
  readonly grantor: string
  /** The NIP of the other one. */
  readonly subject: string
  readonly permission: string
  readonly description: string
  /** The name of the other one, as the taxpayer gave it. */
  readonly fullName: string
  readonly startedAt: number
}

/** An operation that granted or revoked something. */
export interface PermissionsOperation {
  /** The NIP of the taxpayer. */
  readonly grantor: string
  readonly code: number
}

type Records = Map<string, Map<string, unknown>>

const gather = (records: ReadonlyArray<JournalRecord>): Records => {
  const kinds: Records = new Map()
  for (const [kind, key, value] of records) {
    const kept = kinds.get(kind) ?? new Map<string, unknown>()
    kinds.set(kind, kept)
    if (value === null) kept.delete(key)
    else kept.set(key, value)
  }
  const calls = kinds.get("call")
  for (const key of calls?.keys() ?? []) {
    if (calls!.size <= keptCalls) break
    calls!.delete(key)
  }
  return kinds
}

function* flattened(kinds: Records): Iterable<JournalRecord> {
  for (const [kind, records] of kinds) for (const [key, value] of records) yield [kind, key, value]
}

/** The memory of one simulator. */
export class State {
  readonly settings: Collection<string | number>
  /** In PEM, by serial number. */
  readonly certificates: Collection<string>
  readonly keys: Collection<EncryptionKey>
  readonly tokens: Collection<KsefToken>
  readonly logins: Collection<Login>
  readonly sessions: Collection<Session>
  readonly contexts: Collection<ContextSettings>
  readonly grants: Collection<Grant>
  /** By their ids. */
  readonly authorizations: Collection<Authorization>
  /** By their reference numbers. */
  readonly permissionsOperations: Collection<PermissionsOperation>
  /** By the serial numbers of their certificates. */
  readonly enrollments: Collection<Enrollment>
  readonly calls: Collection<LedgerCall>
  readonly invoices: Invoices
  readonly files: Files
  readonly serials: Serials
  readonly #journal: Journal
  #drawn: number

  /**
   * Opens a state. `path` is the file that keeps it; without one, it ends with the simulator. `seed` decides the numbers of
   * a state that begins, and is stored with it.
   *
   * @throws {Error} when the file cannot be used.
   */
  constructor(options: { readonly path?: string; readonly seed?: string }) {
    let kept: Records = new Map()
    this.#journal =
      options.path === undefined
        ? inMemory
        : openJournal(options.path, (records) => {
            kept = gather(records)
            return flattened(kept)
          })
    const of = <A>(kind: string): ReadonlyMap<string, A> => (kept.get(kind) ?? new Map()) as ReadonlyMap<string, A>
    const collection = <A>(kind: string) => new Collection<A>(kind, this.#journal, of<A>(kind))
    this.settings = collection("setting")
    this.certificates = collection("certificate")
    this.keys = collection("key")
    this.tokens = collection("token")
    this.logins = collection("login")
    this.sessions = collection("session")
    this.contexts = collection("context")
    this.grants = collection("grant")
    this.authorizations = collection("authorization")
    this.permissionsOperations = collection("permissions-operation")
    this.enrollments = collection("enrollment")
    this.calls = collection("call")
    this.invoices = new Invoices(this.#journal, of("invoice"))
    this.files = new Files(options.path === undefined ? undefined : `${options.path}.files`)
    const seed = this.settings.get("seed") ?? options.seed ?? randomBytes(8).toString("hex")
    this.settings.set("seed", seed)
    this.#drawn = Number(this.settings.get("drawn") ?? 0)
    this.serials = new Serials(String(seed), this.#drawn)
  }

  /** The changes of a context by `/testdata`, or the defaults. */
  context(context: string): ContextSettings {
    return (
      this.contexts.get(context) ?? {
        context,
        blocked: false,
        attachments: false,
        rateLimits: null,
        sessionLimits: null
      }
    )
  }

  changeContext(context: string, change: Partial<ContextSettings>): void {
    this.contexts.set(context, { ...this.context(context), ...change })
  }

  /** Hands everything that changed to the operating system. Called before an answer leaves. */
  flush(): void {
    if (this.serials.drawn !== this.#drawn) {
      this.#drawn = this.serials.drawn
      this.settings.set("drawn", this.#drawn)
    }
    this.#journal.flush()
  }

  close(): void {
    this.flush()
    this.#journal.close()
    this.files.close()
  }
}
