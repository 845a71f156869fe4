/**
 * Counts of events by network in a sliding window. A subscriber can have many IPv6 networks of 64 bits, so the networks of 56
 * and 48 bits around them are counted, too, with higher limits.
 */
import { Effect } from "effect"
import type { SlidingWindowStore, Window } from "./SlidingWindowStore.ts"

/** How many times the limit of a network of 64 bits the wider networks have. */
export const multiples = { 56: 2, 48: 4 } as const

/** The size of a window. */
export interface NetworkWindowOptions {
  readonly name: string
  /** The limit of an IPv4 address, and of an IPv6 network of 64 bits. */
  readonly limit: number
  readonly windowMs: number
}

const networkOf64Bits = /^([\da-f]+):([\da-f]+):([\da-f]+):([\da-f]+)::\/64$/

/** Returns the networks of 56 and of 48 bits around one of 64 bits; none for an IPv4 address. */
export const widerNetworks = (network: string): { readonly 56: string; readonly 48: string } | undefined => {
  const groups = networkOf64Bits
    .exec(network)
    ?.slice(1)
    .map((group) => Number.parseInt(group, 16))
  if (groups === undefined) return undefined
  const site = groups
    .slice(0, 3)
    .map((group) => group.toString(16))
    .join(":")
  return { 56: `${site}:${(groups[3]! & 0xff00).toString(16)}::/56`, 48: `${site}::/48` }
}

/** Makes a window of `limit` events for each network, as `ClientAddress.group` returns it. */
export const make = (
  windows: SlidingWindowStore["Service"],
  { limit, name, windowMs }: NetworkWindowOptions
): Window => {
  const narrow = windows.make({ name, limit, windowMs })
  const wide = ([56, 48] as const).map((bits) => ({
    bits,
    window: windows.make({ name: `${name}:${bits}`, limit: multiples[bits] * limit, windowMs })
  }))

  const ofWide = (network: string, use: (window: Window, key: string) => Effect.Effect<number | void>) => {
    const networks = widerNetworks(network)
    return networks === undefined
      ? Effect.succeed([])
      : Effect.all(wide.map(({ bits, window }) => use(window, networks[bits])))
  }
  const waitOfWide = (network: string) =>
    Effect.map(
      ofWide(network, (window, key) => window.wait(key)),
      (waits) => Math.max(0, ...waits.map(Number))
    )
  const addToWide = (network: string) => ofWide(network, (window, key) => window.add(key))

  return {
    take: Effect.fnUntraced(function* (network) {
      const wideWait = yield* waitOfWide(network)
      const wait = wideWait > 0 ? wideWait : yield* narrow.take(network)
      if (wait === 0) yield* addToWide(network)
      return wait
    }),
    wait: (network) =>
      Effect.map(Effect.all([waitOfWide(network), narrow.wait(network)]), ([wideWait, wait]) =>
        Math.max(wideWait, wait)
      ),
    add: (network) => Effect.andThen(narrow.add(network), Effect.asVoid(addToWide(network)))
  }
}
