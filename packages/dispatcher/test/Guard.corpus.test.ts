import { judgeAddress, judgeUrl } from "@govoice/dispatcher"
import { assert, describe, it } from "@effect/vitest"
import { texts, withOptions } from "./corpus/addresses.ts"
import { answers } from "./corpus/answers.ts"
import * as urls from "./corpus/urls.ts"

const said = (verdict: ReturnType<typeof judgeUrl>) => (verdict.ok ? "ok" : verdict.rule)
const shown = (text: string) => JSON.stringify(text.length > 60 ? `${text.slice(0, 57)}...` : text)

describe("The corpus of URLs and addresses", () => {
  const all = [
    ...Object.values(urls).flatMap((rows) => rows.map(([input, , reason]) => ({ input, reason }))),
    ...texts.map(([input, , reason]) => ({ input: `address ${input}`, reason })),
    ...withOptions.map(({ address, options, reason }) => ({ input: `${address} ${JSON.stringify(options)}`, reason })),
    ...answers.map(({ name, reason }) => ({ input: name, reason }))
  ]

  it("has at least 300 cases, none twice, each with a reason", () => {
    assert.isAtLeast(all.length, 300)
    assert.deepEqual(
      all.map(({ input }) => input).filter((input, index, inputs) => inputs.indexOf(input) !== index),
      []
    )
    for (const { input, reason } of all) assert.isAtLeast(reason.length, 4, input)
  })

  for (const [name, rows] of Object.entries(urls)) {
    describe(`judges URLs: ${name}`, () => {
      for (const [input, expected, reason] of rows) {
        it(`${shown(input)}: ${reason}`, () => {
          assert.strictEqual(said(judgeUrl(input, { allowHttp: true })), expected)
        })
      }
    })
  }

  it("https://xn--/: an empty punycode label is refused, by the URL parser or after it", () => {
    assert.include(["url", "host"], said(judgeUrl("https://xn--/")))
  })

  describe("judges addresses", () => {
    for (const [input, expected, reason] of texts) {
      it(`${shown(input)}: ${reason}`, () => {
        assert.strictEqual(said(judgeAddress(input)), expected)
      })
    }
  })

  describe("judges addresses by options", () => {
    for (const { address, expected, options, reason } of withOptions) {
      it(`${address} with ${JSON.stringify(options)}: ${reason}`, () => {
        assert.strictEqual(said(judgeAddress(address, options)), expected)
      })
    }
  })
})
