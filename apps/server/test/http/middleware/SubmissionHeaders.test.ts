import { afterAll, assert, describe, it } from "@effect/vitest"
import { SandboxScenario } from "@govoice/core"
import * as fc from "fast-check"
import { type Call, errorOf, keys, makeServer, sendTo } from "../support/contractServer.ts"

const server = makeServer()
const send = sendTo(server)
afterAll(() => server.dispose())

const submit = (headers: Readonly<Record<string, string>>, key: string = keys.test, raw = '{"invoice_xml":"<a/>"}') =>
  send("POST", "/v1/invoices", { key, headers, raw })

const submission = (): Call["submission"] => server.calls.at(-1)?.submission

describe("SubmissionHeaders", () => {
  describe("Idempotency-Key", () => {
    const refused = async (value: string | undefined, code: string) => {
      const answer = await submit(value === undefined ? {} : { "idempotency-key": value })
      assert.strictEqual(answer.status, 400)
      assert.deepStrictEqual<unknown>(errorOf(answer).code, code)
      assert.strictEqual(errorOf(answer).param, "Idempotency-Key")
    }

    it("is missing if it is absent or empty", async () => {
      await refused(undefined, "missing_idempotency_key")
      await refused("", "missing_idempotency_key")
      await refused("  ", "missing_idempotency_key")
    })

    it.each(["1", "order 42", "!~", "a".repeat(255), '"quoted"', "a, b"])("may be %j", async (value) => {
      assert.strictEqual((await submit({ "idempotency-key": value })).status, 201)
      assert.deepStrictEqual(submission(), { idempotencyKey: value, scenario: "accepted", checks: undefined })
    })

    it.each(["a".repeat(256), "a\tb", "zażółć".slice(0, 2) + "ó", "caf\u00e9", "a\u0080b", "a\u007fb", "a\u00a0b"])(
      "may not be %j",
      (value) => refused(value, "invalid_idempotency_key")
    )

    it("has 1 to 255 characters from space to tilde", async () => {
      // Any value of a header, without the white space around it.
      const unit = fc.oneof(
        { weight: 20, arbitrary: fc.integer({ min: 0x20, max: 0x7e }) },
        { weight: 1, arbitrary: fc.integer({ min: 0x7f, max: 0xff }) },
        { weight: 1, arbitrary: fc.constant(0x09) }
      )
      const value = fc
        .array(unit, { maxLength: 270, size: "max" })
        .map((units) => String.fromCharCode(...units).replaceAll(/^[\t ]+|[\t ]+$/g, ""))
      await fc.assert(
        fc.asyncProperty(value, async (text) => {
          const answer = await submit({ "idempotency-key": text })
          const expected =
            text === ""
              ? "missing_idempotency_key"
              : text.length <= 255 && Array.from(text).every((character) => character >= " " && character <= "~")
                ? undefined
                : "invalid_idempotency_key"
          assert.deepStrictEqual<unknown>(errorOf(answer).code, expected)
          if (expected === undefined) assert.strictEqual(submission()?.idempotencyKey, text)
          else if (text.length > 3) assert.notInclude(answer.text, text)
        }),
        { numRuns: 2000 }
      )
    })

    it("is required in live mode, too", async () => {
      assert.deepStrictEqual<unknown>(errorOf(await submit({}, keys.live)).code, "missing_idempotency_key")
    })
  })

  describe("Gov-Sandbox-Scenario", () => {
    const given = (scenario: string, key?: string) =>
      submit({ "idempotency-key": "1", "gov-sandbox-scenario": scenario }, key)

    it.each(SandboxScenario.Scenario.literals)("may be %s", async (scenario) => {
      assert.strictEqual((await given(scenario)).status, 201)
      assert.strictEqual(submission()?.scenario, scenario)
    })

    it("is optional", async () => {
      assert.strictEqual((await submit({ "idempotency-key": "1" })).status, 201)
      assert.strictEqual(submission()?.scenario, "accepted")
    })

    it.each(["", "Accepted", "accepted, rejected", "lost", "__proto__", "toString"])(
      "may not be %j",
      async (scenario) => {
        const answer = await given(scenario)
        assert.strictEqual(answer.status, 400)
        assert.deepStrictEqual<unknown>(errorOf(answer).code, "invalid_sandbox_scenario")
        assert.strictEqual(errorOf(answer).param, "Gov-Sandbox-Scenario")
      }
    )

    it.each(["accepted", "rejected", "lost", ""])("is not read with a live key: %j", async (scenario) => {
      assert.strictEqual((await given(scenario, keys.live)).status, 201)
      assert.isNull(submission()?.scenario)
    })
  })

  it("is checked after the key and before the body", async () => {
    assert.deepStrictEqual<unknown>(errorOf(await submit({}, "sk_test_of_nobody")).code, "missing_api_key")
    assert.deepStrictEqual<unknown>(errorOf(await submit({}, keys.test, "{}")).code, "missing_idempotency_key")
    const both = { "idempotency-key": "1", "gov-sandbox-scenario": "lost" }
    assert.deepStrictEqual<unknown>(errorOf(await submit(both, keys.test, "{}")).code, "invalid_sandbox_scenario")
  })
})
