/**
 * The control plane: API keys.
 *
 * @module
 */
import type { CallOptions } from "./connection.ts"
import { apiKey, newApiKey } from "./internal/kinds.ts"
import { withBody, withoutBody } from "./internal/operation.ts"
import { type List, list, type ListOptions } from "./list.ts"
import type { ApiKey, ApiKeyRequest, NewApiKey } from "./records.ts"
import type { ControlPlaneConnection } from "./session.ts"

/** Makes an API key. Its `secret` is shown this once. */
export const createApiKey: (
  session: ControlPlaneConnection,
  organizationId: string,
  input: ApiKeyRequest,
  options?: CallOptions
) => Promise<NewApiKey> = /* @__PURE__ */ withBody("POST", "organizations/*/api-keys", newApiKey)

/** The API keys of an organization that are not revoked, newest first. */
export const listApiKeys: (
  session: ControlPlaneConnection,
  organizationId: string,
  options?: ListOptions
) => List<ApiKey> = /* @__PURE__ */ list("organizations/*/api-keys", apiKey)

/** Revokes an API key, at once. */
export const revokeApiKey: (session: ControlPlaneConnection, id: string, options?: CallOptions) => Promise<void> =
  /* @__PURE__ */ withoutBody("api-keys/*", "", "DELETE")
