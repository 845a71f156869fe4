/**
 * Decides whether an organization may submit in live mode: the deployment allows it, a live gateway is installed, and the
 * organization has stored its credential.
 */
import type { Ids } from "@govoice/core"
import { Context, Effect, Layer } from "effect"
import { Settings } from "../../settings/Settings.ts"
import { GatewayCredentials } from "../../accounts/GatewayCredentials.ts"
import { InvoiceGateways } from "./InvoiceGateway.ts"

/** Decides whether live mode is available. */
export class LiveMode extends Context.Service<
  LiveMode,
  { readonly isAvailableTo: (organizationId: Ids.OrganizationId) => Effect.Effect<boolean> }
>()("@govoice/server/invoices/gateway/LiveMode") {}

/** Provides `LiveMode`. */
export const layer: Layer.Layer<LiveMode, never, GatewayCredentials | InvoiceGateways | Settings> = Layer.effect(
  LiveMode,
  Effect.gen(function* () {
    const credentials = yield* GatewayCredentials
    const { live } = yield* InvoiceGateways
    const { liveMode } = yield* Settings
    const isEnabled = liveMode && live !== undefined

    return {
      isAvailableTo: (organizationId) => (isEnabled ? credentials.isPresent(organizationId) : Effect.succeed(false))
    }
  })
)
