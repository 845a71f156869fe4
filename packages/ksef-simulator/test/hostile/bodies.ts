/**
 * Bytes that no honest client sends, drawn from a seed.
 */
import { createHash } from "node:crypto"

/** Draws numbers and picks from a seed: the same seed draws the same. */
export class Random {
  readonly #seed: string
  #drawn = 0

  constructor(seed: string) {
    this.#seed = seed
  }

  bytes(length: number): Buffer {
    const blocks = Array.from({ length: Math.ceil(length / 32) }, () =>
      createHash("sha256")
        .update(`${this.#seed} ${(this.#drawn += 1)}`)
        .digest()
    )
    return Buffer.concat(blocks).subarray(0, length)
  }

  /** Returns a whole number from 0 up to, and without, `below`. */
  below(below: number): number {
    return this.bytes(6).readUIntBE(0, 6) % below
  }

  pick<A>(values: ReadonlyArray<A>): A {
    return values[this.below(values.length)]!
  }
}

const strange: ReadonlyArray<unknown> = [
  null,
  true,
  -1,
  0,
  1e308,
  2 ** 53,
  1.5,
  "",
  "\u0000",
  "__proto__",
  "constructor",
  "toString",
  "\ud800",
  "../../../../etc/passwd",
  "x".repeat(70_000),
  [],
  {},
  [[[[[[[[]]]]]]]],
  { __proto__: null },
  { toString: 1, length: -1 }
]

/** Returns a value of JSON with some of its members, at any depth, replaced, removed or added. */
export const mutated = (random: Random, value: unknown): unknown => {
  if (random.below(6) === 0) return random.pick(strange)
  if (Array.isArray(value)) {
    return (value as ReadonlyArray<unknown>).flatMap((one) =>
      random.below(8) === 0 ? [one, one] : [mutated(random, one)]
    )
  }
  if (typeof value !== "object" || value === null) return value
  const entries = Object.entries(value)
    .filter(() => random.below(8) !== 0)
    .map(([name, member]) => [name, mutated(random, member)] as const)
  const extra = random.below(4) === 0 ? [[random.pick(["extra", "__proto__", "constructor"]), 1] as const] : []
  return Object.fromEntries([...entries, ...extra])
}

/** Returns bytes with some of them changed, left out, repeated or put in. */
export const damaged = (random: Random, bytes: Buffer): Buffer => {
  let result = Buffer.from(bytes)
  for (let edits = 1 + random.below(6); edits > 0; edits--) {
    const at = random.below(result.length + 1)
    const [before, after] = [result.subarray(0, at), result.subarray(at)]
    const length = 1 + random.below(16)
    result = random.pick([
      () => Buffer.concat([before, random.bytes(length), after.subarray(length)]),
      () => Buffer.concat([before, after.subarray(length)]),
      () => Buffer.concat([before, after.subarray(0, length), after]),
      () => Buffer.concat([before, random.bytes(length), after]),
      () => before
    ])()
  }
  return result
}

/** XML that costs a careless parser much, or reads what it must not. */
export const xmlBombs: ReadonlyArray<string> = [
  `<!DOCTYPE a [<!ENTITY b "bbbbbbbbbb">${Array.from({ length: 9 }, (_, n) => `<!ENTITY b${n} "${`&b${n === 0 ? "" : n - 1};`.repeat(10)}">`).join("")}]><a>&b8;</a>`,
  `<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>`,
  `<!DOCTYPE a SYSTEM "http://127.0.0.1:1/a.dtd"><a/>`,
  "<a>".repeat(50_000),
  `${"<a>".repeat(5000)}${"</a>".repeat(5000)}`,
  `<a ${Array.from({ length: 20_000 }, (_, n) => `b${n}=""`).join(" ")}/>`,
  `<a xmlns:xi="http://www.w3.org/2001/XInclude"><xi:include href="file:///etc/passwd" parse="text"/></a>`,
  "<?xml version='1.0' encoding='UTF-32'?><a/>",
  `<a>${"&#x10ffff;".repeat(10_000)}</a>`,
  "\u0000<a/>"
]
