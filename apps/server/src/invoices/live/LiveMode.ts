/**
 * Decides whether an organization may submit in live mode: the deployment has a national system, and the organization has
 * stored a credential for it.
 */
import type { Ids } from "@govoice/core"
import { Context, Effect, Layer } from "effect"
import { GatewayCredentials } from "./GatewayCredentials.ts"
import { NationalSystem } from "./ksef/NationalSystem.ts"

/** Decides whether live mode is available. */
export class LiveMode extends Context.Service<
  LiveMode,
  { readonly isAvailableTo: (organizationId: Ids.OrganizationId) => Effect.Effect<boolean> }
>()("@govoice/server/invoices/live/LiveMode") {}

/** Provides `LiveMode`. */
export const layer: Layer.Layer<LiveMode, never, GatewayCredentials> = Layer.effect(
  LiveMode,
  Effect.gen(function* () {
    const credentials = yield* GatewayCredentials
    const isEnabled = (yield* NationalSystem) !== undefined

    return {
      isAvailableTo: (organizationId) => (isEnabled ? credentials.isPresent(organizationId) : Effect.succeed(false))
    }
  })
)
