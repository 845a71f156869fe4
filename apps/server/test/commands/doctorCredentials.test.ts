import { assert, describe, it } from "@effect/vitest"
import { credentialFindings } from "../../src/commands/doctor.ts"

const none = {
  all: 3,
  tokens: 0,
  token_examples: [],
  refused: 0,
  refused_example: null,
  expiring: 0,
  expiring_example: null
}

const messages = (counts: object, today: string) =>
  credentialFindings({ ...none, ...counts }, today).map(({ level, message }) => `${level}: ${message}`)

describe("doctor", () => {
  it("counts the organizations with tokens, and names each from 2026-12-01", () => {
    const two = { tokens: 2, token_examples: ["org_a", "org_b"] }
    const until = "with tokens, which the rules provide for until 2026-12-31."
    assert.deepStrictEqual(messages(two, "2026-11-30"), [`warning: 2 organizations log in ${until}`])
    assert.deepStrictEqual(messages(two, "2026-12-01"), [`warning: org_a, org_b log in ${until}`])
    assert.deepStrictEqual(messages({ tokens: 1, token_examples: ["org_a"] }, "2027-01-01"), [
      `warning: org_a logs in ${until}`
    ])
    assert.deepStrictEqual(messages({ ...two, tokens: 7 }, "2026-12-31"), [
      `warning: org_a, org_b and 5 more log in ${until}`
    ])
    assert.deepStrictEqual(messages({}, "2026-12-31"), ["ok: 3 credentials are stored"])
  })
})
