/**
 * Limits the calls that need no credential by the address of the client, and by the networks around an IPv6 address: so many
 * of each kind in a sliding minute.
 */
import { Context, Effect, Layer } from "effect"
import * as SlidingWindows from "../../limits/SlidingWindows.ts"
import { SlidingWindowStore } from "../../limits/SlidingWindows.ts"
import { failWhileWaiting, type Throttled } from "../../limits/Throttled.ts"
import * as ClientAddress from "../transport/ClientAddress.ts"

/** How many calls of one kind an address may make in a minute. */
export const maxCalls = 100

/** How many mails that reset passwords an address may request in a minute. Sending one takes a second or more, and all owners share it. */
export const maxResets = 10

/** The kinds of calls. Each is counted for itself. */
export type LimitedCall = "console-refresh" | "login" | "logout" | "password-reset" | "refresh" | "signup"

/** Service that counts calls by address. */
export class AddressLimits extends Context.Service<
  AddressLimits,
  {
    /** Counts a call. A call beyond the limit fails and is not counted. */
    readonly take: (kind: LimitedCall, address: string | undefined) => Effect.Effect<void, Throttled>
    /** Fails beyond the limit, and counts nothing. */
    readonly check: (kind: LimitedCall, address: string | undefined) => Effect.Effect<void, Throttled>
  }
>()("@govoice/server/http/middleware/AddressLimits") {}

/** Provides `AddressLimits`. */
export const layer: Layer.Layer<AddressLimits, never, SlidingWindowStore> = Layer.effect(
  AddressLimits,
  Effect.map(SlidingWindowStore, (windows) => {
    const window = (kind: LimitedCall, limit = maxCalls) => {
      const options = { name: `address:${kind}`, limit, windowMs: 60_000 }
      return { ...SlidingWindows.makeForNetworks(windows, options), failWhileWaiting: failWhileWaiting(options) }
    }
    const calls = {
      "console-refresh": window("console-refresh"),
      login: window("login"),
      logout: window("logout"),
      "password-reset": window("password-reset", maxResets),
      refresh: window("refresh"),
      signup: window("signup")
    }
    return {
      take: (kind, address) =>
        Effect.flatMap(calls[kind].take(ClientAddress.group(address)), calls[kind].failWhileWaiting),
      check: (kind, address) =>
        Effect.flatMap(calls[kind].wait(ClientAddress.group(address)), calls[kind].failWhileWaiting)
    }
  })
)
