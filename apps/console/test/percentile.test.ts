import { assert, it } from "vitest"
import { percentile } from "../src/screens/endpoints/percentile.ts"

it("percentile returns the least value that the given part of the values does not exceed", () => {
  const hundred = Array.from({ length: 100 }, (_, index) => index + 1)
  assert.strictEqual(percentile(hundred, 0.95), 95)
  assert.strictEqual(percentile(hundred, 0.5), 50)
  assert.strictEqual(percentile([1, 2, 3], 0.5), 2)
  assert.strictEqual(percentile([7], 0.95), 7)
  assert.strictEqual(percentile([7], 0), 7)
})
