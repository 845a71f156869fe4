/** Completions without a database. */
import type { Completion } from "../../src/deliveries/Completion.ts"

export const completion = (n: number, changes: Partial<Completion> = {}): Completion => ({
  id: `wd_${n}`,
  organization_id: "org_1",
  endpoint_id: "we_1",
  event_id: `evt_${n}`,
  fencing_token: 1,
  status: "succeeded",
  attempt_count: 1,
  pace: "steady",
  works: (changes.status ?? "succeeded") === "succeeded",
  last_attempted_at: "2026-11-20T10:00:00.000Z",
  last_http_status: 204,
  last_error_summary: null,
  next_retry_at: null,
  updated_at: "2026-11-20T10:00:00.000Z",
  ...changes
})

export const completions = (count: number, changes: Partial<Completion> = {}): ReadonlyArray<Completion> =>
  Array.from({ length: count }, (_, n) => completion(n, changes))
