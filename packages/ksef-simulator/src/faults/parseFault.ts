/**
 * Checks faults that come from outside.
 */
import type { Fault, FaultName, FaultPoint } from "./Fault.ts"
import { faultPoints, points } from "./points.ts"

type Check = (value: unknown) => boolean

const isWhole =
  (least: number, most = Number.MAX_SAFE_INTEGER): Check =>
  (value) =>
    Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most
const isOneOf =
  (...values: ReadonlyArray<unknown>): Check =>
  (value) =>
    values.includes(value)
const isTexts: Check = (value) => Array.isArray(value) && value.every((text) => typeof text === "string")

interface Member {
  readonly expected: string
  readonly check: Check
  readonly required?: true
}

const anyStatus: Member = { expected: "a status from 200 to 599", check: isWhole(200, 599) }
const details: Member = { expected: "a list of texts", check: isTexts }
const anyCode: Member = { expected: "a code from 100 to 599", check: isWhole(100, 599), required: true }

// The separators of the header are no part of a warning.
const headerText: Member = {
  expected: "printable ASCII without |, [ and ]",
  check: (value) => typeof value === "string" && /^[ -Z^-{}~\\]+$/.test(value)
}

const members: Readonly<Record<FaultName, Readonly<Record<string, Member>>>> = {
  "429": { retryAfter: { expected: "seconds from 0 up", check: isWhole(0) } },
  "5xx": {
    status: { expected: "a status from 500 to 599", check: isWhole(500, 599) },
    retryAfter: { expected: "seconds from 0 up", check: isWhole(0) }
  },
  html: { status: anyStatus },
  "system-warning": { message: { ...headerText, required: true }, code: headerText },
  delay: { ms: { expected: "milliseconds from 0 to 600000", check: isWhole(0, 600_000), required: true } },
  stall: {},
  "drop-before": {},
  "drop-after": {},
  exception: { code: { expected: "a code such as 21173", check: isWhole(9000, 99_999), required: true }, details },
  "21184": {},
  "stuck-150": {
    polls: { expected: 'a number from 1 up, or "always"', check: (value) => value === "always" || isWhole(1)(value) }
  },
  verdict: { code: anyCode, details },
  "440": {
    original: { expected: '"matching" or "other-hash"', check: isOneOf("matching", "other-hash") },
    extensions: { expected: '"right", "none" or "wrong-session"', check: isOneOf("right", "none", "wrong-session") }
  },
  "415-after-rotation": {},
  "rotate-keys": { rotation: { expected: '"planned" or "emergency"', check: isOneOf("planned", "emergency") } },
  "expire-access": {},
  "revoke-token": {},
  "block-403": {
    ms: { expected: "milliseconds from 0 up", check: isWhole(0) },
    detail: { expected: "a text", check: (value) => typeof value === "string" }
  },
  "upo-late": {},
  "upo-html": {},
  "session-gone": {},
  "close-lost": { committed: { expected: "true or false", check: isOneOf(true, false) } },
  "token-login-ends": {}
}

/** The names of all faults. */
export const faultNames = Object.keys(members) as ReadonlyArray<FaultName>

const selector: Readonly<Record<string, Member>> = {
  on: { expected: `one of ${faultPoints.join(", ")}`, check: isOneOf(...faultPoints) },
  context: {
    expected: "the value of a context, such as a NIP",
    check: (value) => typeof value === "string" && /^\d{10}(?:-[\dA-Z+*]+)?$/.test(value)
  },
  nth: { expected: "a number from 1 up", check: isWhole(1) },
  times: { expected: 'a number from 1 up, or "always"', check: (value) => value === "always" || isWhole(1)(value) },
  probability: {
    expected: "a number between 0 and 1",
    check: (value) => typeof value === "number" && value >= 0 && value <= 1
  }
}

/**
 * Checks a fault that came from outside.
 *
 * @throws {TypeError} that says what was expected.
 */
export const parseFault = (value: unknown): Fault => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new TypeError(`Expected a fault as an object, such as {"do":"drop-after"}.`)
  }
  const given = value as Record<string, unknown>
  const name = String(given["do"]) as FaultName
  const own = Object.hasOwn(members, name) ? members[name] : undefined
  if (own === undefined) throw new TypeError(`Expected "do" to be one of ${faultNames.join(", ")}.`)
  const known: Readonly<Record<string, Member>> = { ...selector, ...own }
  for (const [member, { check, expected, required }] of Object.entries(known)) {
    const present = Object.hasOwn(given, member) && given[member] !== undefined
    if (present ? !check(given[member]) : required) {
      throw new TypeError(`Expected "${member}" of the fault "${name}" to be ${expected}.`)
    }
  }
  for (const member of Object.keys(given)) {
    if (member !== "do" && !Object.hasOwn(known, member)) {
      throw new TypeError(`The fault "${name}" has no member "${member}". It has ${Object.keys(known).join(", ")}.`)
    }
  }
  const { possible } = points[name]
  const on = given["on"] as FaultPoint | undefined
  if (on !== undefined && !possible.includes(on)) {
    const expected = possible.includes("*")
      ? 'an operation that it can apply to, or "*"'
      : `one of ${possible.join(", ")}`
    throw new TypeError(`Expected "on" of the fault "${name}" to be ${expected}.`)
  }
  return value as Fault
}
