/** A cached judgment is the one that would be made, and few are kept. */
import { assert, describe, it } from "@effect/vitest"
import { compile } from "../../src/internal/policy.ts"
import { parseUrl } from "../../src/internal/url.ts"
import { UrlCache } from "../../src/internal/urlCache.ts"

const policy = compile({})

describe("UrlCache", () => {
  for (const url of [
    "https://name.test/hook?a=b",
    "http://name.test/",
    "https://10.0.0.1/",
    "https://127.0.0.1",
    "no"
  ]) {
    it(`returns the same judgment each time: ${url}`, () => {
      const urls = new UrlCache(policy)
      const judged = urls.judge(url)
      assert.deepStrictEqual(judged, parseUrl(url, policy))
      assert.strictEqual(urls.judge(url), judged)
    })
  }

  it("returns the judgment of its own policy, not of another cache", () => {
    const open = new UrlCache(compile({ allowHttp: true }))
    assert.strictEqual(new UrlCache(policy).judge("http://name.test/"), "scheme")
    assert.notStrictEqual(open.judge("http://name.test/"), "scheme")
  })

  it("evicts the oldest of 1,000 URLs, and does not cache a long URL", () => {
    const urls = new UrlCache(policy)
    const first = urls.judge("https://name.test/first")
    const long = `https://name.test/${"x".repeat(3_000)}`
    assert.notStrictEqual(urls.judge(long), urls.judge(long))
    for (let n = 1; n < 1_000; n++) urls.judge(`https://name.test/${n}`)
    assert.strictEqual(urls.judge("https://name.test/first"), first)
    urls.judge("https://name.test/1000")
    assert.notStrictEqual(urls.judge("https://name.test/first"), first)
  })
})
