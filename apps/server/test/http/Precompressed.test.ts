import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { brotliDecompressSync, gunzipSync } from "node:zlib"
import * as Precompressed from "../../src/http/Precompressed.ts"

const body = "zażółć ".repeat(1000)

const make = Precompressed.make({ body, contentType: "text/plain; charset=utf-8", headers: { "x-own": "1" } })

describe("Precompressed", () => {
  it("prefers the coding of the highest weight: br, then gzip, then none", () => {
    const cases: ReadonlyArray<readonly [string | undefined, string]> = [
      [undefined, "identity"],
      ["", "identity"],
      ["gzip, deflate, br, zstd", "br"],
      ["gzip", "gzip"],
      ["x-gzip", "gzip"],
      ["GZIP", "gzip"],
      ["br;q=0.5, gzip", "gzip"],
      ["br;q=0.5, gzip;q=0.5", "br"],
      ["br;q=0, *", "gzip"],
      ["br; q=0 , gzip;Q=0", "identity"],
      ["*", "br"],
      ["gzip;q=0.5, identity", "identity"],
      ["gzip;q=0.001", "gzip"],
      ["identity;q=0, *;q=0", "identity"],
      ["br;q=nonsense", "identity"],
      ["br;q=2", "identity"],
      ["zstd", "identity"],
      [",;=,;q", "identity"]
    ]
    for (const [given, expected] of cases) assert.strictEqual(Precompressed.negotiate(given), expected, given)
  })

  it.effect("responds with the same text in each coding, and with a tag for each", () =>
    Effect.gen(function* () {
      const respond = yield* make
      const decoders = { br: brotliDecompressSync, gzip: gunzipSync, identity: (bytes: Uint8Array) => bytes }
      const tags = new Set<string | undefined>()
      for (const [coding, decode] of Object.entries(decoders)) {
        const response = respond({ "accept-encoding": coding })
        assert.strictEqual(response.headers["content-encoding"], coding === "identity" ? undefined : coding)
        assert.deepInclude(response.headers, { "x-own": "1", vary: "Accept-Encoding", "cache-control": "no-cache" })
        assert.match(response.headers["etag"] ?? "", /^"[0-9a-f]{64}"$/)
        tags.add(response.headers["etag"])
        const bytes = new Uint8Array(yield* Effect.promise(() => HttpServerResponse.toWeb(response).arrayBuffer()))
        assert.strictEqual(Buffer.from(decode(bytes)).toString(), body)
        assert.isTrue(coding === "identity" || bytes.length < Buffer.byteLength(body) / 10)
      }
      assert.strictEqual(tags.size, 3)
    })
  )

  it.effect("responds with 304 and no body to the tag of the coding that it would send", () =>
    Effect.gen(function* () {
      const respond = yield* make
      const etag = respond({ "accept-encoding": "gzip" }).headers["etag"]!
      for (const condition of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
        const response = respond({ "accept-encoding": "gzip", "if-none-match": condition })
        assert.strictEqual(response.status, 304, condition)
        assert.deepInclude(response.headers, { etag, vary: "Accept-Encoding", "x-own": "1" })
        assert.isUndefined(response.headers["content-type"])
        assert.isUndefined(response.headers["content-encoding"])
        assert.strictEqual(response.body._tag, "Empty")
      }
      for (const condition of ['"other"', etag.slice(1, -1)]) {
        assert.strictEqual(respond({ "accept-encoding": "gzip", "if-none-match": condition }).status, 200)
      }
      assert.strictEqual(respond({ "accept-encoding": "br", "if-none-match": etag }).status, 200)
    })
  )
})
