/**
 * What lists are made of: a path with `*` for each identifier, and what its records are.
 *
 * @module
 */
import type { Kind } from "./decode.ts"
import * as Kinds from "./kinds.ts"

/** A list. */
export type List = readonly [path: string, kind: Kind]

export const organizations: List = ["organizations", Kinds.organization]
export const invoices: List = ["organizations/*/invoices", Kinds.invoice]
export const apiKeys: List = ["organizations/*/api-keys", Kinds.apiKey]
export const webhookEndpoints: List = ["organizations/*/webhook-endpoints", Kinds.webhookEndpoint]
export const deliveries: List = ["webhook-endpoints/*/deliveries", Kinds.webhookDelivery]
