/** What the command prints about itself. */
import { assert, describe, it } from "vitest"
import { fit, printable } from "../../src/commands/output.ts"

describe("the help of a command", () => {
  it("stays as it is where it fits", () => {
    const help = "USAGE\n  govoice serve\n\nFLAGS\n  --one    What it does\n  --two    What this does"
    assert.strictEqual(fit(help), help)
  })

  it("has its sentences, meanings and commands in 80 columns", () => {
    const words = Array.from({ length: 30 }, (_, word) => `word${word}`).join(" ")
    const flags = Array.from({ length: 6 }, (_, flag) => `--flag-number-${flag} value`).join(" ")
    const help = `DESCRIPTION\n  ${words}\n\nFLAGS\n  --one    Short\n  --two    ${words}\nEXAMPLES\n  # Long\n  run ${flags}`
    const fitted = fit(help)
    for (const line of fitted.split("\n")) assert.isAtMost(line.length, 80, line)
    assert.include(fitted, "FLAGS\n  --one\n      Short\n  --two\n      word0 ")
    assert.include(fitted, "\n\nEXAMPLES\n  # Long\n  run --flag-number-0 value")
    // The shell reads the example as one command.
    const [, example] = /# Long\n([^]*)$/.exec(fitted)!
    assert.strictEqual(example!.replaceAll(/ \\\n +/g, " ").trim(), `run ${flags}`)
    assert.strictEqual(fitted.replaceAll(/[\s\\]+/g, " "), help.replaceAll(/\s+/g, " "))
  })

  it("has the meaning of the longest subcommand below its name", () => {
    const words = Array.from({ length: 15 }, (_, word) => `word${word}`).join(" ")
    const fitted = fit(`SUBCOMMANDS\n  a-long-name ${words}\n  short       One`)
    assert.include(fitted, "SUBCOMMANDS\n  a-long-name\n      word0 ")
    assert.include(fitted, "\n  short\n      One")
  })

  it("counts no colors", () => {
    const line = `  \u001B[1m${"x".repeat(70)}\u001B[0m`
    assert.strictEqual(fit(line), line)
  })
})

describe("what a command prints of others", () => {
  it("has its control and format characters as JSON has them, and nothing else changed", () => {
    const text = "name\t\u001B]0;title\u0007 \u009B2J\r\u202Eabc\u2028\u{E0041}\n"
    assert.strictEqual(
      printable(text),
      "name\t\\u001b]0;title\\u0007 \\u009b2J\\u000d\\u202eabc\\u2028\\udb40\\udc41\n"
    )
    assert.strictEqual(JSON.parse(printable(JSON.stringify(text))), text)
    const plain = "Zażółć gęślą jaźń, ✔ 你好 😀"
    assert.strictEqual(printable(plain), plain)
  })
})
