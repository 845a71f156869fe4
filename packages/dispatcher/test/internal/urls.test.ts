/** That a judgement which is kept is the judgement that would be made, and that few are kept. */
import { assert, describe, it } from "@effect/vitest"
import { compile } from "../../src/internal/policy.ts"
import { parseTarget } from "../../src/internal/url.ts"
import { Urls } from "../../src/internal/urls.ts"

const policy = compile({})

describe("The judgement of a URL", () => {
  for (const url of [
    "https://name.test/hook?a=b",
    "http://name.test/",
    "https://10.0.0.1/",
    "https://127.0.0.1",
    "no"
  ]) {
    it(`is the same each time: ${url}`, () => {
      const urls = new Urls(policy)
      const judged = urls.judge(url)
      assert.deepStrictEqual(judged, parseTarget(url, policy))
      assert.strictEqual(urls.judge(url), judged)
    })
  }

  it("is that of its own policy", () => {
    const open = new Urls(compile({ allowHttp: true }))
    assert.strictEqual(new Urls(policy).judge("http://name.test/"), "scheme")
    assert.notStrictEqual(open.judge("http://name.test/"), "scheme")
  })

  it("is forgotten when a thousand others came, and not kept for a long text", () => {
    const urls = new Urls(policy)
    const first = urls.judge("https://name.test/first")
    const long = `https://name.test/${"x".repeat(3_000)}`
    assert.notStrictEqual(urls.judge(long), urls.judge(long))
    for (let n = 1; n < 1_000; n++) urls.judge(`https://name.test/${n}`)
    assert.strictEqual(urls.judge("https://name.test/first"), first)
    urls.judge("https://name.test/1000")
    assert.notStrictEqual(urls.judge("https://name.test/first"), first)
  })
})
