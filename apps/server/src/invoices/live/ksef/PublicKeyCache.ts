/** The public keys of the national system, read once an hour for all lanes of a process. */
import type { KsefClient } from "@govoice/ksef/client"
import { PublicKeys } from "@govoice/ksef/crypto"
import { Clock, Effect } from "effect"
import { CallFailed } from "./CallFailure.ts"
import type { Call } from "./LaneCalls.ts"

const maxAgeMs = 3_600_000

export class PublicKeyCache {
  readonly #client: KsefClient.KsefClient
  #list: { readonly keys: ReadonlyArray<PublicKeys.Listed>; readonly readAt: number } | undefined

  constructor(client: KsefClient.KsefClient) {
    this.#client = client
  }

  /** Has the next use read the keys again. */
  invalidate(): void {
    this.#list = undefined
  }

  /** Returns the key for a usage. */
  get(usage: PublicKeys.Usage, call: Call): Effect.Effect<PublicKeys.PublicKey, CallFailed> {
    return Effect.gen({ self: this }, function* () {
      const now = yield* Clock.currentTimeMillis
      if (this.#list === undefined || now - this.#list.readAt > maxAgeMs) {
        this.#list = { keys: yield* call("publicKeys", this.#client.publicKeys), readAt: now }
      }
      const key = PublicKeys.select(this.#list.keys, usage, now)
      if (key !== undefined) return key
      this.invalidate()
      const message = "KSeF lists no public key that can be used."
      return yield* new CallFailed({ failure: { _tag: "unavailable", wasSent: false, message } })
    })
  }
}
