/**
 * The event types and the event record, which is the body of a webhook request.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as Ids from "./Ids.ts"
import { Invoice } from "./Invoice.ts"
import { Mode } from "./Mode.ts"
import { Timestamp } from "./Timestamp.ts"

const number = "5265877635-20261120-0100A0B1C2D3-32"
const url = "https://qr-test.ksef.mf.gov.pl/invoice/5265877635/20-11-2026/bVWOvc2WhLGYVUR-jaB2cBSxGNFVO1IOPrp5B4VVW5U"
const verification = { url, label: number, certificate_url: null }

/**
 * What is known of an event type: `summary` is the title of its webhook in the OpenAPI document, `meaning` is its line in the guides,
 * and `example` returns the members in which the invoice of an example differs from a queued one. `at` returns the time so many
 * seconds after its creation.
 *
 * @category models
 * @since 0.1.0
 */
export interface Description {
  readonly summary: string
  readonly meaning: string
  readonly example: (at: (seconds: number) => string) => Partial<Invoice>
}

/**
 * The event types and what is known of each. The OpenAPI document, the guides and the samples of `@govoice/webhooks` derive from it.
 *
 * @category constants
 * @since 0.1.0
 */
export const descriptions = {
  "invoice.received": {
    summary: "The invoice is stored",
    meaning: "the invoice is stored and queued, before the `201`",
    example: () => ({})
  },
  "invoice.submitted": {
    summary: "The national system has received the invoice",
    meaning: "the national system has the invoice",
    example: (at) => ({ status: "submitted", attempt_count: 1, submitted_at: at(1), updated_at: at(1) })
  },
  "invoice.accepted": {
    summary: "The invoice has an official number",
    meaning: "the national system accepted it and assigned its official number",
    example: (at) => ({
      status: "accepted",
      verification,
      official_number: number,
      attempt_count: 1,
      submitted_at: at(1),
      completed_at: at(2),
      updated_at: at(2)
    })
  },
  "invoice.upo_available": {
    summary: "The official receipt (UPO) can be downloaded",
    meaning: "the official receipt (UPO) can be downloaded",
    example: (at) => ({
      status: "accepted",
      verification,
      official_mode: "online",
      official_number: number,
      upo_available: true,
      attempt_count: 1,
      submitted_at: at(1),
      completed_at: at(2),
      updated_at: at(3)
    })
  },
  "invoice.rejected": {
    summary: "The national system rejected the invoice",
    meaning: "the national system refused it",
    example: (at) => ({
      status: "rejected",
      scenario: "rejected",
      rejection: { code: "sandbox_rejected", message: "The sandbox rejected the invoice, as its scenario says." },
      attempt_count: 1,
      submitted_at: at(1),
      completed_at: at(2),
      updated_at: at(2)
    })
  },
  "invoice.failed": {
    summary: "Processing of the invoice ended without acceptance or rejection",
    meaning:
      "processing ended without acceptance or rejection: all attempts failed, one failed permanently, or an operator ended it; `failure` has the reason",
    example: (at) => ({
      status: "failed",
      scenario: "temporary_failure",
      failure: { code: "gateway_unavailable", message: "The sandbox gateway was unavailable, as its scenario says." },
      attempt_count: 3,
      completed_at: at(3),
      updated_at: at(3)
    })
  }
} as const satisfies Readonly<Record<`invoice.${string}`, Description>>

/**
 * The event types: the names of `descriptions`, in their order.
 *
 * @category models
 * @since 0.1.0
 */
export const EventType = Schema.Literals(Object.keys(descriptions) as Array<keyof typeof descriptions>)

/**
 * Type of a decoded `EventType`.
 *
 * @category models
 * @since 0.1.0
 */
export type EventType = typeof EventType.Type

/**
 * The body of a webhook request: an event with the invoice as of its transition.
 *
 * @category models
 * @since 0.1.0
 */
export const InvoiceEvent = Schema.Struct({
  id: Ids.schema("evt"),
  object: Schema.Literal("event"),
  type: EventType,
  mode: Mode,
  created_at: Timestamp,
  data: Schema.Struct({ invoice: Invoice })
}).annotate({ identifier: "Event", description: "The raw JSON body of a webhook request." })

/**
 * Type of a decoded `InvoiceEvent`.
 *
 * @category models
 * @since 0.1.0
 */
export type InvoiceEvent = typeof InvoiceEvent.Type

/**
 * Returns whether an endpoint with these subscriptions receives events of `type`. `"*"` subscribes to all types, also to
 * types added later.
 *
 * @category guards
 * @since 0.1.0
 */
export const isSubscribed = (subscriptions: ReadonlyArray<string>, type: EventType): boolean =>
  subscriptions.includes("*") || subscriptions.includes(type)
