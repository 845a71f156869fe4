import { describe, it, vi } from "@effect/vitest"
import { assertTrue, strictEqual } from "@effect/vitest/utils"
import { Handshakes } from "../../src/internal/handshakes.ts"
import { PoolManager } from "../../src/internal/poolManager.ts"
import { makeAttempt } from "../support/attempts.ts"

const make = (maxPools: number) => {
  const { engine, settings, url } = makeAttempt("http://example.com/", { allowHttp: true })
  const seen = { pools: 0 }
  vi.spyOn(engine.instruments, "adjust").mockImplementation((gauge, change) => {
    if (gauge === "pools") seen.pools += change
  })
  const socketSettings = { secureContext: settings.secureContext, handshakes: new Handshakes([]), proxy: undefined }
  const limits = { maxConnections: 1, maxPools, maxIdleConnections: 1 }
  const pools = new PoolManager(limits, socketSettings, engine.instruments, () => {})
  return { seen, pools, choose: (address: string) => pools.choose(url, [address]) }
}

describe("PoolManager", () => {
  it("counts an evicted pool that is used again beside the pool that replaced it", () => {
    const { choose, pools, seen } = make(10)
    const first = choose("192.0.2.1")
    pools.evict(first)
    pools.evict(first)
    strictEqual(seen.pools, 0)
    const second = choose("192.0.2.1")
    assertTrue(second !== first)

    // An evicted pool opens another connection for an attempt that had chosen it before.
    pools.touch(first)
    pools.touch(first)
    strictEqual(seen.pools, 2)
    strictEqual(choose("192.0.2.1"), first)
    pools.evict(second)
    strictEqual(seen.pools, 1)
    strictEqual(choose("192.0.2.1"), first)
    pools.close()
    strictEqual(seen.pools, 0)
    assertTrue(choose("192.0.2.1") !== first)
  })

  it("evicts the least recently used pools", () => {
    const { choose, seen } = make(2)
    const [first, second] = [choose("192.0.2.1"), choose("192.0.2.2")]
    strictEqual(choose("192.0.2.1"), first)
    choose("192.0.2.3")
    strictEqual(seen.pools, 2)
    strictEqual(choose("192.0.2.1"), first)
    assertTrue(choose("192.0.2.2") !== second)
  })
})
