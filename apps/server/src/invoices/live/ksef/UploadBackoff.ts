/** When a taxpayer may open its next batch after its uploads failed. */
import * as LaneRules from "../LaneRules.ts"
import { RecentFailures } from "./RecentFailures.ts"

/** The failed uploads of the lanes of this process. It outlives the leases, which end while a lane waits. */
export class UploadBackoff {
  readonly #failures = new RecentFailures<{ readonly count: number; readonly until: number }>()

  /** Records that the archive of a batch could not be uploaded, and returns from when on the next one may be opened. */
  failed(nip: string, now: number): number {
    const count = (this.#failures.get(nip, now)?.count ?? 0) + 1
    const until = now + LaneRules.failedUploadWait(count)
    this.#failures.set(nip, { count, until }, now)
    return until
  }

  /** Forgets the failures of a taxpayer. */
  succeeded(nip: string): void {
    this.#failures.delete(nip)
  }

  /** Returns from when on a batch may be opened; 0 where nothing has failed. No wait is as long as a failure is kept. */
  waitUntil(nip: string): number {
    return this.#failures.get(nip, 0)?.until ?? 0
  }
}
