/**
 * Links to the storage beside the API: signed, limited in time, and without a bearer token.
 */
import { createHmac, timingSafeEqual } from "node:crypto"
import type { Ledger } from "../ledger/Ledger.ts"
import type { Clock } from "../time/Clock.ts"
import { wholeSeconds } from "../time/timestamps.ts"

/** Makes links, and checks the ones that come back. */
export class Links {
  readonly #key: string
  readonly #clock: Clock
  readonly #ledger: Ledger
  readonly #origin: () => string

  constructor(options: {
    readonly key: string
    readonly clock: Clock
    readonly ledger: Ledger
    readonly origin: () => string
  }) {
    this.#key = options.key
    this.#clock = options.clock
    this.#ledger = options.ledger
    this.#origin = options.origin
  }

  /** The base URL of the API. */
  get apiUrl(): string {
    return `${this.#origin()}/v2`
  }

  /** Makes a link to a path of the storage. `access` is `r` to read or `w` to write. */
  make(path: string, access: "r" | "w", lifetimeMs: number): { readonly url: string; readonly validUntil: number } {
    const validUntil = Math.ceil(this.#clock.now() + lifetimeMs)
    const query = new URLSearchParams({
      sv: "2025-01-05",
      se: `${wholeSeconds(validUntil).slice(0, 19)}Z`,
      sr: "b",
      sp: access,
      ms: String(validUntil),
      sig: this.#signature(path, access, String(validUntil))
    })
    return { url: this.#ledger.secret(`${this.#origin()}/storage/${path}?${query.toString()}`), validUntil }
  }

  /** Checks a link. `expired` and `wrong` are both refused with 403, as Azure's storage does. */
  check(path: string, query: URLSearchParams, access: "r" | "w"): "ok" | "expired" | "wrong" {
    const validUntil = query.get("ms") ?? ""
    const given = Buffer.from(query.get("sig") ?? "")
    const expected = Buffer.from(this.#signature(path, access, validUntil))
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return "wrong"
    return this.#clock.now() < Number(validUntil) ? "ok" : "expired"
  }

  #signature(path: string, access: string, validUntil: string): string {
    return createHmac("sha256", this.#key).update(`${access} ${validUntil} ${path}`).digest("base64url")
  }
}
