/**
 * Whether an organization can submit for real: the deployment allows it, a live gateway is installed, and the
 * organization has stored its credential.
 *
 * @since 0.1.0
 */
import type { Ids } from "@govoice/core"
import { Context, Effect, Layer } from "effect"
import { Settings } from "../settings/Settings.ts"
import { ApiKeys } from "../store/ApiKeys.ts"
import { InvoiceGateways } from "./InvoiceGateway.ts"

/**
 * Service that knows whether live mode is open.
 *
 * @category services
 * @since 0.1.0
 */
export class LiveMode extends Context.Service<
  LiveMode,
  { readonly isAvailableTo: (organizationId: Ids.OrganizationId) => Effect.Effect<boolean> }
>()("@govoice/server/gateway/LiveMode") {}

/**
 * Layer that provides `LiveMode`.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<LiveMode, never, ApiKeys | InvoiceGateways | Settings> = Layer.effect(
  LiveMode,
  Effect.gen(function* () {
    const apiKeys = yield* ApiKeys
    const { live } = yield* InvoiceGateways
    const { liveMode } = yield* Settings
    const open = liveMode && live !== undefined

    return {
      isAvailableTo: (organizationId) => (open ? apiKeys.hasCredential(organizationId) : Effect.succeed(false))
    }
  })
)
