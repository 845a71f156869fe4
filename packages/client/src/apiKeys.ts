/**
 * The control plane operations of API keys.
 *
 * @module
 * @since 0.1.0
 */
import { withBody, withoutBody } from "./internal/operation.ts"
import { apiKey, newApiKey } from "./internal/schemas.ts"
import { type List, list, type ListOptions } from "./list.ts"
import type { CallOptions } from "./options.ts"
import type { ApiKey, ApiKeyRequest, NewApiKey } from "./records.ts"
import type { ControlPlaneConnection } from "./session.ts"

/**
 * Creates an API key. Only this response contains its `secret`.
 *
 * @throws {AnyGovoiceError} such as an `ApiError` with code `limit_reached`.
 * @category control plane
 * @since 0.1.0
 */
export const createApiKey: (
  session: ControlPlaneConnection,
  organizationId: string,
  input: ApiKeyRequest,
  options?: CallOptions
) => Promise<NewApiKey> = /* @__PURE__ */ withBody("POST", "organizations/*/api-keys", newApiKey)

/**
 * Lists the API keys of an organization that are not revoked, newest first.
 *
 * @category control plane
 * @since 0.1.0
 */
export const listApiKeys: (
  session: ControlPlaneConnection,
  organizationId: string,
  options?: ListOptions
) => List<ApiKey> = /* @__PURE__ */ list("organizations/*/api-keys", apiKey)

/**
 * Revokes an API key. Requests with it fail immediately.
 *
 * @category control plane
 * @since 0.1.0
 */
export const revokeApiKey: (session: ControlPlaneConnection, id: string, options?: CallOptions) => Promise<void> =
  /* @__PURE__ */ withoutBody("api-keys/*", "", "DELETE")
