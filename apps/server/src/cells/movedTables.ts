/**
 * What becomes of each table when organizations move to another cell. A test compares this list with the schema.
 *
 * Logical replication copies the rows of their buckets, and follows the changes: every identifier has the bucket, so that the
 * condition needs no column but those of the primary key.
 */
import { Ids } from "@govoice/core"

/** Where the two characters of the bucket begin in identifiers with this prefix, counted from 1. */
const start = (prefix: keyof typeof Ids.prefixes): number => Ids.prefixes[prefix].length + 1 + 10 + 1

/** The expression of the bucket of an identifier. */
export const bucketOf = (prefix: keyof typeof Ids.prefixes, id = "id"): string => `substr(${id}, ${start(prefix)}, 2)`

/** The tables whose rows are replicated, each with the expression of the bucket of a row, those that are referred to first. */
export const replicated = {
  api_keys: bucketOf("apiKey"),
  webhook_endpoints: bucketOf("endpoint"),
  offline_certificates: bucketOf("organization"),
  invoices: bucketOf("invoice"),
  invoice_documents: bucketOf("invoice", "invoice_id"),
  receipts: bucketOf("invoice", "invoice_id"),
  idempotency_records: bucketOf("organization", "organization_id"),
  events: bucketOf("event"),
  deliveries: bucketOf("delivery"),
  national_logins: bucketOf("organization"),
  // Their replica identity is the whole row.
  national_sessions: bucketOf("organization", "organization_id"),
  national_submissions: bucketOf("organization", "organization_id")
} as const

/** The tables of which the move itself writes some columns: limits and counts, lanes, credentials. */
export const written = ["organization_concurrency", "national_lanes", "organizations"] as const

/** The columns of organizations that the control cell does not publish. */
export const credentialColumns = [
  "credential",
  "credential_kind",
  "credential_environment",
  "credential_context",
  "credential_expires_at",
  "credential_state",
  "credential_checked_at",
  "credential_refusal",
  "credential_updated_at",
  "credential_refusals",
  "credential_told"
] as const

/** The tables that stay: what all cells have from the control cell, and what belongs to the database. */
export const kept = [
  "accounts",
  "sessions",
  "refresh_tokens",
  "cells",
  "cell_buckets",
  "cell_taxpayers",
  "cell_moves",
  "national_environment",
  "queue_gauges",
  "schema_migrations"
] as const
