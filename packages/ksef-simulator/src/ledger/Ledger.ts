/**
 * Records every call of the simulator, and every document that it accepted. The ledger survives restarts with the state.
 */
import type { Collection } from "../state/Collection.ts"
import type { Invoices } from "../state/Invoices.ts"
import type { LedgerCall } from "../state/records.ts"

/** One document that has a KSeF number. */
export interface AcceptedInvoice {
  readonly ksefNumber: string
  /** SHA-256 of the document, in Base64. */
  readonly sha256: string
  readonly sellerNip: string
  readonly kind: string
  readonly invoiceNumber: string
  readonly acceptedAt: number
  readonly session: string
  readonly invoice: string
}

/** Reads what happened. */
export interface SimulatorLedger {
  /** Calls in the order in which they ended. The newest 100,000 are kept. */
  readonly calls: () => ReadonlyArray<LedgerCall>
  /** How many calls there were in all. */
  readonly totalCalls: number
  /** Documents with a KSeF number, in the order in which they were sent. */
  readonly accepted: () => ReadonlyArray<AcceptedInvoice>
  /** How many calls came while their window was full. */
  readonly overLimit: number
  /** The largest number of calls of one context that were under way at the same time in this process. */
  readonly maxOverlap: (context: string) => number
  /** Tokens, JWTs and links that were handed out by this process: none of them belongs into a log. */
  readonly secrets: () => ReadonlyArray<string>
}

const keptSecrets = 100_000

/** Writes and reads what happened. */
export class Ledger implements SimulatorLedger {
  readonly #calls: Collection<LedgerCall>
  readonly #kept: number
  readonly #counts: Collection<string | number>
  readonly #invoices: Invoices
  readonly #secrets = new Set<string>()
  readonly #underWay = new Map<string, { now: number; most: number }>()
  #total: number

  constructor(options: {
    readonly calls: Collection<LedgerCall>
    readonly kept: number
    readonly settings: Collection<string | number>
    readonly invoices: Invoices
  }) {
    this.#calls = options.calls
    this.#kept = options.kept
    this.#counts = options.settings
    this.#invoices = options.invoices
    this.#total = Array.from(this.#calls.values()).at(-1)?.id ?? 0
  }

  get totalCalls(): number {
    return this.#total
  }

  get overLimit(): number {
    return Number(this.#counts.get("overLimit") ?? 0)
  }

  readonly calls = (): ReadonlyArray<LedgerCall> => [...this.#calls.values()]

  readonly accepted = (): ReadonlyArray<AcceptedInvoice> =>
    Array.from(this.#invoices.values()).flatMap(({ acceptedAt, hash, header, ksefNumber, reference, session }) =>
      ksefNumber === null || header === null || acceptedAt === null
        ? []
        : [
            {
              ksefNumber,
              sha256: hash,
              sellerNip: header.sellerNip,
              kind: header.kind,
              invoiceNumber: header.number,
              acceptedAt,
              session,
              invoice: reference
            }
          ]
    )

  readonly maxOverlap = (context: string): number => this.#underWay.get(context)?.most ?? 0

  readonly secrets = (): ReadonlyArray<string> => [...this.#secrets]

  /** Counts a call of a context as under way, until the function that it returns is called. */
  enter(context: string): () => void {
    const count = this.#underWay.get(context) ?? { now: 0, most: 0 }
    this.#underWay.set(context, count)
    count.now += 1
    count.most = Math.max(count.most, count.now)
    return () => {
      count.now -= 1
    }
  }

  /** Writes a call. */
  record(call: Omit<LedgerCall, "id">): void {
    const id = (this.#total += 1)
    if (call.overLimit) this.#counts.set("overLimit", this.overLimit + 1)
    this.#calls.set(String(id), { id, ...call })
    if (this.#calls.size > this.#kept) this.#calls.delete(this.#calls.firstKey()!)
  }

  /** Remembers something that was handed out and belongs to its receiver alone. */
  secret<A extends string>(text: A): A {
    if (this.#secrets.size < keptSecrets) this.#secrets.add(text)
    return text
  }
}
