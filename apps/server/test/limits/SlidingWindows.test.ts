import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as SlidingWindows from "../../src/limits/SlidingWindows.ts"
import { layerMemory, SlidingWindowStore } from "../../src/limits/SlidingWindows.ts"
import * as ClientAddress from "../../src/http/transport/ClientAddress.ts"

const limit = 100

const withWindow = <A, E>(
  use: (take: (address: string) => Effect.Effect<number>) => Effect.Effect<A, E>
): Effect.Effect<A, E> =>
  Effect.gen(function* () {
    const windows = yield* SlidingWindowStore
    const window = SlidingWindows.makeForNetworks(windows, { name: "test", limit, windowMs: 60_000 })
    return yield* use((address) => window.take(ClientAddress.group(address)))
  }).pipe(Effect.provide(layerMemory))

const countAllowed = Effect.fnUntraced(function* (
  take: (address: string) => Effect.Effect<number>,
  addresses: ReadonlyArray<string>
) {
  let allowed = 0
  for (const address of addresses) if ((yield* take(address)) === 0) allowed++
  return allowed
})

describe("NetworkWindows", () => {
  it("widens an IPv6 network of 64 bits, and no IPv4 address", () => {
    assert.deepStrictEqual(SlidingWindows.widerNetworks(ClientAddress.group("2001:db8:a:1234::5")), {
      56: "2001:db8:a:1200::/56",
      48: "2001:db8:a::/48"
    })
    assert.deepStrictEqual(SlidingWindows.widerNetworks(ClientAddress.group("2001:0db8:a:00ff::5")), {
      56: "2001:db8:a:0::/56",
      48: "2001:db8:a::/48"
    })
    assert.isUndefined(SlidingWindows.widerNetworks(ClientAddress.group("192.0.2.1")))
    assert.isUndefined(SlidingWindows.widerNetworks(ClientAddress.group("::ffff:192.0.2.1")))
    assert.isUndefined(SlidingWindows.widerNetworks(ClientAddress.group(undefined)))
  })

  it.effect("allows a stranger with 256 networks of 64 bits twice the limit of one", () =>
    withWindow((take) =>
      Effect.gen(function* () {
        const addresses = Array.from(
          { length: 1000 },
          (_, n) => `2001:db8:1:1${(n % 256).toString(16).padStart(2, "0")}::1`
        )
        assert.strictEqual(yield* countAllowed(take, addresses), 2 * limit)
        assert.strictEqual(yield* take("2001:db8:1:200::1"), 0, "the next network of 56 bits is not affected")
        yield* TestClock.adjust("1 minute")
        assert.strictEqual(yield* take(addresses[0]!), 0)
      })
    )
  )

  it.effect("allows a stranger with 65,536 networks of 64 bits four times the limit of one", () =>
    withWindow((take) =>
      Effect.gen(function* () {
        const addresses = Array.from({ length: 2000 }, (_, n) => `2001:db8:1:${((n * 251) % 65_536).toString(16)}::1`)
        assert.strictEqual(yield* countAllowed(take, addresses), 4 * limit)
        assert.strictEqual(yield* take("2001:db8:2:0::1"), 0, "another network of 48 bits is not affected")
        assert.strictEqual(yield* take("192.0.2.1"), 0)
      })
    )
  )

  it.effect("counts one network of 64 bits towards its own limit only", () =>
    withWindow((take) =>
      Effect.gen(function* () {
        assert.strictEqual(yield* countAllowed(take, Array<string>(1000).fill("2001:db8:1:1::1")), limit)
        assert.strictEqual(yield* take("2001:db8:1:2::1"), 0)
      })
    )
  )
})
