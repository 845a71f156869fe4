/** When a taxpayer may open its next batch after its uploads failed. */
import * as LaneRules from "../LaneRules.ts"

/** The failed uploads of the lanes of a process. It outlives the leases, which end while a lane waits. */
export class UploadBackoff {
  readonly #failures = new Map<string, { readonly count: number; readonly until: number }>()

  /** Records that the archive of a batch could not be uploaded. */
  failed(nip: string, now: number): void {
    const count = (this.#failures.get(nip)?.count ?? 0) + 1
    this.#failures.set(nip, { count, until: now + LaneRules.failedUploadWait(count) })
  }

  /** Forgets the failures of a taxpayer. */
  succeeded(nip: string): void {
    this.#failures.delete(nip)
  }

  /** Returns from when on a batch may be opened; 0 where nothing has failed. */
  waitUntil(nip: string): number {
    return this.#failures.get(nip)?.until ?? 0
  }
}
