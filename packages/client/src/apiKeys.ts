/**
 * The control plane: API keys.
 *
 * @module
 */
import type { CallOptions } from "./connection.ts"
import { apiKey, newApiKey } from "./internal/kinds.ts"
import { operation } from "./internal/operation.ts"
import { pages } from "./internal/pages.ts"
import { segment } from "./internal/paths.ts"
import type { ListOptions } from "./organizations.ts"
import type { ApiKey, ApiKeyRequest, NewApiKey } from "./records.ts"
import type { Session } from "./session.ts"

/** Makes an API key. Its `secret` is shown this once. */
export const createApiKey = (
  session: Session,
  organizationId: string,
  input: ApiKeyRequest,
  options?: CallOptions
): Promise<NewApiKey> =>
  operation(session, "POST", `/organizations${segment(organizationId)}/api-keys`, options, newApiKey, input)

/** The API keys of an organization that are not revoked, newest first. */
export const listApiKeys = (session: Session, organizationId: string, options?: ListOptions): AsyncIterable<ApiKey> =>
  pages(session, `/organizations${segment(organizationId)}/api-keys`, apiKey, options)

/** Revokes an API key, at once. */
export const revokeApiKey = (session: Session, id: string, options?: CallOptions): Promise<void> =>
  operation(session, "DELETE", `/api-keys${segment(id)}`, options)
