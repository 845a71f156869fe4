import { assert, describe, it } from "vitest"
import type { Fault } from "../../src/faults/Fault.ts"
import { Faults } from "../../src/faults/Faults.ts"
import { faultNames, parseFault } from "../../src/faults/parseFault.ts"
import { Serials } from "../../src/state/Serials.ts"

const at = { point: "sendInvoice", context: "5265877635" } as const

const names = (faults: Faults, occasions: number): ReadonlyArray<string> =>
  Array.from({ length: occasions }, () => faults.take(at)?.fault.do ?? "-")

describe("Faults", () => {
  it("picks a fault once, at the first occasion, unless the fault says otherwise", () => {
    const faults = new Faults(new Serials("seed"))
    faults.add({ do: "drop-after", on: "sendInvoice", nth: 2, times: 2 })
    assert.deepStrictEqual(names(faults, 5), ["-", "drop-after", "drop-after", "-", "-"])
    assert.deepInclude(faults.list()[0], { seen: 5, fired: 2 })
  })

  it("picks the first of several faults for one occasion, and the others later", () => {
    const faults = new Faults(new Serials("seed"))
    faults.add({ do: "drop-after" })
    faults.add({ do: "stall" })
    assert.deepStrictEqual(names(faults, 3), ["drop-after", "stall", "-"])
  })

  it("selects by operation, context and number of times", () => {
    const faults = new Faults(new Serials("seed"))
    faults.add({ do: "html", on: "closeOnlineSession", times: "always" })
    faults.add({ do: "5xx", context: "1111111111", times: "always" })
    assert.deepStrictEqual(names(faults, 2), ["-", "-"])
    assert.strictEqual(faults.take({ point: "closeOnlineSession", context: null })?.fault.do, "html")
    assert.strictEqual(faults.take({ point: "getSession", context: "1111111111" })?.fault.do, "5xx")
  })

  it("picks no outcome, and no call outside of the API, for faults of all calls", () => {
    const faults = new Faults(new Serials("seed"))
    faults.add({ do: "stall", times: "always" })
    for (const point of ["invoice", "session", "login", "uploadPart", "downloadUpo"] as const) {
      assert.isUndefined(faults.take({ point, context: null }))
    }
  })

  it("picks the share of a probability, the same calls for the same seed", () => {
    const picked = (seed: string): string => {
      const faults = new Faults(new Serials(seed))
      faults.add({ do: "5xx", times: "always", probability: 0.3 })
      return names(faults, 1000)
        .map((name) => (name === "-" ? "." : "x"))
        .join("")
    }
    assert.strictEqual(picked("a"), picked("a"))
    assert.notStrictEqual(picked("a"), picked("b"))
    assert.closeTo(picked("a").replaceAll(".", "").length, 300, 50)
  })

  it("does not pick a removed fault, and does not use its id again", () => {
    const faults = new Faults(new Serials("seed"))
    const first = faults.add({ do: "stall" })
    faults.remove(first)
    assert.isFalse(faults.has(first))
    assert.isAbove(faults.add({ do: "stall" }), first)
    faults.clear()
    assert.deepStrictEqual(names(faults, 1), ["-"])
  })
})

describe("parseFault", () => {
  const examples: Readonly<Record<string, object>> = {
    "system-warning": { message: "Soon." },
    delay: { ms: 5 },
    exception: { code: 21173 },
    verdict: { code: 550, on: "login" },
    "440": { original: "other-hash", extensions: "wrong-session" },
    "stuck-150": { polls: "always" }
  }

  it.each(faultNames)("takes %s", (name) => {
    const fault = { do: name, times: 2, context: "5265877635", ...examples[name] }
    assert.deepStrictEqual(parseFault(fault), fault as unknown as Fault)
  })

  it.each([
    [null, 'Expected a fault as an object, such as {"do":"drop-after"}.'],
    [{ do: "nothing" }, 'Expected "do" to be one of 429, '],
    [{ do: "toString" }, 'Expected "do" to be one of 429, '],
    [{ do: "delay" }, 'Expected "ms" of the fault "delay" to be milliseconds from 0 to 600000.'],
    [{ do: "delay", ms: -1 }, 'Expected "ms" of the fault "delay" to be milliseconds'],
    [{ do: "stall", ms: 1 }, 'The fault "stall" has no member "ms". It has on, context, nth, times, probability.'],
    [{ do: "stall", on: "nowhere" }, 'Expected "on" of the fault "stall" to be one of listPublicKeys, '],
    [
      { do: "stall", on: "invoice" },
      'Expected "on" of the fault "stall" to be an operation that it can apply to, or "*".'
    ],
    [
      { do: "verdict", code: 550, on: "*" },
      'Expected "on" of the fault "verdict" to be one of invoice, session, login.'
    ],
    [{ do: "440", on: "login" }, 'Expected "on" of the fault "440" to be one of invoice.'],
    [{ do: "upo-html", on: "getInvoiceUpo" }, 'Expected "on" of the fault "upo-html" to be one of downloadUpo.'],
    [
      { do: "expire-access", on: "createChallenge" },
      'Expected "on" of the fault "expire-access" to be an operation that'
    ],
    [{ do: "429", on: "uploadPart" }, 'Expected "on" of the fault "429" to be an operation that'],
    [{ do: "stall", times: 0 }, 'Expected "times" of the fault "stall" to be a number from 1 up, or "always".'],
    [
      { do: "stall", context: "1" },
      'Expected "context" of the fault "stall" to be the value of a context, such as a NIP.'
    ]
  ])("refuses %j, and says what was expected", (given, message) => {
    assert.throws(() => parseFault(given), message)
  })
})
