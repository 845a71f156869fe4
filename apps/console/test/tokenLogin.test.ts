import { assert, it } from "vitest"
import { isTokenEnding } from "../src/screens/live/tokenLogin.ts"

it("tells owners with a token from the first of December in Poland", () => {
  assert.isFalse(isTokenEnding("ksef_token", Date.parse("2026-11-30T22:59:59Z")))
  assert.isTrue(isTokenEnding("ksef_token", Date.parse("2026-11-30T23:00:00Z")))
  assert.isFalse(isTokenEnding("certificate", Date.parse("2026-12-02T00:00:00Z")))
  assert.isFalse(isTokenEnding(null, Date.parse("2026-12-02T00:00:00Z")))
})
