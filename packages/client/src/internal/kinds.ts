/**
 * The records of the API as `decode` checks them.
 *
 * Generated from @govoice/api by `test/support/generate.ts`: change it there.
 *
 * @module
 */

import type { Kind } from "./decode.ts"

export const me: Kind = {
  object: "string",
  id: "string",
  mode: "string",
  name: ["string", null],
  last4: "string",
  created_at: "string",
  organization: { id: "string", object: "string", name: "string" },
  live_mode_available: "boolean"
}

export const invoice: Kind = {
  id: "string",
  object: "string",
  mode: "string",
  status: "string",
  scenario: ["string", null],
  metadata: "strings",
  official_number: ["string", null],
  rejection: [{ code: "string", message: "string" }, null],
  failure: [{ code: "string", message: "string" }, null],
  upo_available: "boolean",
  attempt_count: "number",
  next_attempt_at: ["string", null],
  created_at: "string",
  updated_at: "string",
  submitted_at: ["string", null],
  completed_at: ["string", null]
}

export const account: Kind = { id: "string", object: "string", email: "string", created_at: "string" }

export const organization: Kind = {
  id: "string",
  object: "string",
  name: "string",
  gateway_credential: { present: "boolean", updated_at: ["string", null] },
  created_at: "string"
}

export const apiKey: Kind = {
  id: "string",
  object: "string",
  organization_id: "string",
  mode: "string",
  name: ["string", null],
  last4: "string",
  created_at: "string",
  expires_at: ["string", null]
}

export const newApiKey: Kind = {
  id: "string",
  object: "string",
  organization_id: "string",
  mode: "string",
  name: ["string", null],
  last4: "string",
  created_at: "string",
  expires_at: ["string", null],
  secret: "string"
}

export const webhookEndpoint: Kind = {
  id: "string",
  object: "string",
  organization_id: "string",
  url: "string",
  description: ["string", null],
  event_types: ["string"],
  enabled: "boolean",
  created_at: "string",
  updated_at: "string"
}

export const newWebhookEndpoint: Kind = {
  id: "string",
  object: "string",
  organization_id: "string",
  url: "string",
  description: ["string", null],
  event_types: ["string"],
  enabled: "boolean",
  created_at: "string",
  updated_at: "string",
  secret: "string"
}

export const rotatedWebhookEndpoint: Kind = {
  id: "string",
  object: "string",
  organization_id: "string",
  url: "string",
  description: ["string", null],
  event_types: ["string"],
  enabled: "boolean",
  created_at: "string",
  updated_at: "string",
  secret: "string",
  secret_activates_at: "string"
}

export const webhookDelivery: Kind = {
  id: "string",
  object: "string",
  event_id: "string",
  event_type: "string",
  endpoint_id: "string",
  status: "string",
  attempt_count: "number",
  last_http_status: ["number", null],
  last_error_summary: ["string", null],
  next_retry_at: ["string", null],
  created_at: "string",
  updated_at: "string",
  last_attempted_at: ["string", null],
  delivered_at: ["string", null]
}

export const tokenPair: Kind = {
  access_token: "string",
  token_type: "string",
  expires_in: "number",
  refresh_token: "string",
  refresh_expires_in: "number"
}

export const error: Kind = {
  error: {
    type: "string",
    code: "string",
    message: "string",
    param: ["string", null],
    request_id: "string",
    retryable: "boolean"
  }
}

export const page = (item: Kind): Kind => ({
  object: "string",
  data: [item],
  has_more: "boolean",
  next_cursor: ["string", null]
})
