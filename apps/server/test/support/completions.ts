/** Claimed deliveries and completions without a database. */
import type { ClaimedDelivery } from "../../src/webhooks/ClaimedDelivery.ts"
import type { Completion } from "../../src/webhooks/Completion.ts"
import type { DeliveryClaim } from "../../src/webhooks/DeliveryQueue.ts"

export const completion = (n: number, changes: Partial<Completion> = {}): Completion => ({
  id: `wd_${n}`,
  organization_id: "org_1",
  endpoint_id: "we_1",
  event_id: `evt_${n}`,
  fencing_token: 1,
  status: "succeeded",
  attempt_count: 1,
  last_attempted_at: "2026-11-20T10:00:00.000Z",
  last_http_status: 204,
  last_error_summary: null,
  next_retry_at: null,
  delivered_at: "2026-11-20T10:00:00.000Z",
  updated_at: "2026-11-20T10:00:00.000Z",
  ...changes
})

export const completions = (count: number, changes: Partial<Completion> = {}): ReadonlyArray<Completion> =>
  Array.from({ length: count }, (_, n) => completion(n, changes))

export const delivery = (n: number): ClaimedDelivery => ({
  id: `wd_${n}`,
  organization_id: "org_1",
  endpoint_id: "we_1",
  event_id: `evt_${n}`,
  event_type: "invoice.received",
  invoice_id: "inv_1",
  fencing_token: 1,
  attempt_count: 1,
  last_attempted_at: null,
  available_at: new Date(0),
  body: "{}",
  traceparent: null,
  url: "https://example.com",
  endpoint_enabled: true,
  secret: new Uint8Array(),
  standard_webhooks: false,
  next_secret: null,
  next_secret_at: null
})

/** The claim of as many deliveries. */
export const claimOf = (count: number, changes: Partial<DeliveryClaim> = {}): DeliveryClaim => ({
  deliveries: Array.from({ length: count }, (_, n) => delivery(n)),
  more: false,
  atConcurrencyLimit: [],
  completed: [],
  ...changes
})
