import { assert, describe, it } from "@effect/vitest"
import type { Ids } from "@govoice/core"
import { Effect, Layer } from "effect"
import { HttpServerRequest } from "effect/http"
import { layer, RateLimits } from "../../../src/http/middleware/RateLimits.ts"
import * as TokenBuckets from "../../../src/limits/TokenBuckets.ts"
import * as TestSettings from "../../support/TestSettings.ts"

const mebibyte = 1024 * 1024
const { rateLimit } = TestSettings.settings()

const limits = layer.pipe(
  Layer.provide(TokenBuckets.layerMemory),
  Layer.provide(TestSettings.layer({ rateLimit: { ...rateLimit, bytesPerSecond: mebibyte } }))
)

const organization: Ids.OrganizationId = "org_01kakd3zz0e5ksv2c8f4n6q9rt"

/** Sends a request with as many bytes with a key of the organization, and returns whether it was accepted. */
const submit = Effect.fnUntraced(function* (
  key: number,
  bytes: number,
  organizationId: Ids.OrganizationId = organization
) {
  const request = new Request("http://localhost/v1/invoices", {
    method: "POST",
    headers: { "content-length": String(bytes) }
  })
  return yield* Effect.flatMap(RateLimits, ({ take }) =>
    take({ id: `key_01kakd3zz0e5ksv2c8f4n6q9${key}`, organizationId })
  ).pipe(
    Effect.provideService(HttpServerRequest.HttpServerRequest, HttpServerRequest.fromWeb(request)),
    Effect.as(true),
    Effect.orElseSucceed(() => false)
  )
})

describe("RateLimits", () => {
  it.effect("gives the keys of an organization a share of bytes together, and another organization its own", () =>
    Effect.gen(function* () {
      // A key may send 4 MiB at once, and an organization 8 MiB.
      assert.isTrue(yield* submit(1, 4 * mebibyte))
      assert.isFalse(yield* submit(1, mebibyte))
      assert.isTrue(yield* submit(2, 4 * mebibyte))
      assert.isFalse(yield* submit(3, mebibyte))
      assert.isTrue(yield* submit(4, 4 * mebibyte, "org_01kakd3zz0e5ksv2c8f4n6q9rv"))
    }).pipe(Effect.provide(limits))
  )
})
