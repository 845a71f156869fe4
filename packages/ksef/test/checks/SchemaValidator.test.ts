import { assert, describe, it, vi } from "vitest"
import { firstFaults } from "../../src/checks/SchemaValidator.ts"

describe("firstFaults", () => {
  const xpath = vi.fn(() => "/*/*[1]")
  const report = (faults: ReadonlyArray<readonly [node: number, message: string]>) => {
    xpath.mockClear()
    const schema = {
      validate: (
        _: string,
        onFault: (fault: { node: number; message: string; line: number; xpath: () => string }) => void
      ) => faults.forEach(([node, message]) => onFault({ node, message, line: 1, xpath }))
    }
    return firstFaults(schema, "<a/>")
  }

  it("finds the paths of five faults, and counts all of them", () => {
    const { count, shown } = report(Array.from({ length: 100_000 }, (_, index) => [index + 1, "Element 'a': wrong."]))
    assert.strictEqual(count, 100_000)
    assert.lengthOf(shown, 5)
    assert.strictEqual(xpath.mock.calls.length, 5)
  })

  it("counts an element once, and each of its attributes once, by the first message", () => {
    const { count, shown } = report([
      [1, "Element 'a': first."],
      [1, "Element 'a': second."],
      [1, "Element 'a', attribute 'b': first."],
      [1, "Element 'a', attribute 'b': second."],
      [2, "Element 'a': first."]
    ])
    assert.strictEqual(count, 3)
    assert.deepStrictEqual(
      shown.map(({ message }) => message),
      ["Element 'a': first.", "Element 'a', attribute 'b': first.", "Element 'a': first."]
    )
  })

  it("counts every fault that has no element", () => {
    assert.strictEqual(
      report([
        [0, "one"],
        [0, "two"]
      ]).count,
      2
    )
  })
})
