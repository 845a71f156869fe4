/**
 * Sentences for values that the schema does not allow.
 *
 * @since 0.1.0
 */
import type { ElementDeclaration, ValueType } from "./SchemaModel.ts"
import * as remedies from "./remedies.ts"
import { quoted } from "./Violation.ts"

/**
 * Returns the sentence for a fault of a value, or `undefined` for a fault of another kind.
 *
 * @category formatting
 * @since 0.1.0
 */
export const sentence = (text: string, declaration: ElementDeclaration | undefined): string | undefined => {
  for (const [form, toSentence] of forms) {
    const match = form.exec(text)
    if (match !== null) return toSentence(match[1] ?? "", match[2] ?? "", declaration)
  }
  return undefined
}

type ToSentence = (first: string, second: string, declaration: ElementDeclaration | undefined) => string

// The messages of libxml2, version 2.14, without the name of the element.
const forms: ReadonlyArray<readonly [RegExp, ToSentence]> = [
  [
    /^The value '(.*)' is not an element of the set \{(.*)\}/s,
    (value, _, declaration) => notListed(value, declaration?.valueType?.values ?? [])
  ],
  [
    /^'(.*)' is not a valid value of the (?:local )?(?:atomic|union|list) type/s,
    (value, _, declaration) => notOfType(value, declaration?.valueType)
  ],
  [/^The value '(.*)' is not accepted by the pattern '(.*)'/s, (value, pattern) => notOfPattern(value, pattern)],
  [
    /^The value has a length of '(\d+)'; this exceeds the allowed maximum length of '(\d+)'/,
    (length, most) => `has ${count(length)}; at most ${most} are allowed`
  ],
  [
    /^The value has a length of '(\d+)'; this underruns the allowed minimum length of '(\d+)'/,
    (length, least, declaration) =>
      length === "0" ? empty(declaration) : `has ${count(length)}; at least ${least} are needed`
  ],
  [
    /^The value has a length of '(\d+)'; this differs from the allowed length of '(\d+)'/,
    (length, exact) => `has ${count(length)}; exactly ${exact} are needed`
  ],
  [
    /^The value '(.*)' has more fractional digits than are allowed \('(\d+)'\)/s,
    (value, most) => `${quoted(value)} has too many digits after the decimal point; at most ${most} are allowed`
  ],
  [
    /^The value '(.*)' has more digits than are allowed \('(\d+)'\)/s,
    (value, most) => `${quoted(value)} has too many digits; at most ${most} are allowed`
  ],
  [
    /^The value '(.*)' is less than the minimum value allowed \('(.*)'\)/s,
    (value, least) =>
      isDate(least)
        ? `${quoted(value)} is too early; the earliest date is ${least}`
        : `${quoted(value)} is too small; the minimum is ${least}`
  ],
  [
    /^The value '(.*)' is greater than the maximum value allowed \('(.*)'\)/s,
    (value, most) =>
      isDate(most)
        ? `${quoted(value)} is too late; the latest date is ${most}`
        : `${quoted(value)} is too large; the maximum is ${most}`
  ],
  [
    /^The value '(.*)' must be less than '(.*)'/s,
    (value, bound) => `${quoted(value)} is too large; it must be less than ${bound}`
  ],
  [
    /^The value '(.*)' must be greater than '(.*)'/s,
    (value, bound) => `${quoted(value)} is too small; it must be greater than ${bound}`
  ]
]

const isDate = (bound: string): boolean => /^\d{4}-\d{2}-\d{2}/.test(bound)

// A member of a choice is not required by itself, and not optional either.
const empty = (declaration: ElementDeclaration | undefined): string => {
  const allowed = declaration?.valueType?.values ?? []
  if (allowed.length > 0) return notListed("", allowed)
  return declaration?.isRequired === true
    ? "is empty; write a value"
    : "is empty; write a value, or leave the element out if it is optional"
}

const count = (length: string): string => `${length} character${length === "1" ? "" : "s"}`

const notListed = (value: string, allowed: ReadonlyArray<string>): string => {
  const match = allowed.find((each) => normalized(each) === normalized(value))
  if (match !== undefined) return `${quoted(value)} is not allowed; write "${match}"`
  if (value === "") return `is empty; it must be ${choices(allowed)}`
  return `${quoted(value)} is not allowed; it must be ${choices(allowed)}`
}

const choices = (allowed: ReadonlyArray<string>): string => {
  if (allowed.length > mostListed) {
    const example = ["PL", "PLN"].find((each) => allowed.includes(each)) ?? allowed[0]
    return `one of the ${allowed.length} codes in the schema, such as "${example}"`
  }
  if (allowed.length === 1) return `"${allowed[0]}"`
  return `one of ${allowed.map((each) => `"${each}"`).join(", ")}`
}

const mostListed = 20

// `23%` is meant as 23, `vat` as VAT, `0KR` as 0 KR.
const normalized = (value: string): string => value.replaceAll(/[\s%_-]/g, "").toLowerCase()

const notOfType = (value: string, type: ValueType | undefined): string => {
  if (type !== undefined && type.values.length > 0) return notListed(value, type.values)
  const kind = kinds[type?.base ?? ""] ?? unknownKind
  if (value.trim() === "") return `is empty; it must be ${kind.what}`
  return `${quoted(value)} is not ${kind.what}; ${kind.remedy(value) ?? kind.example}`
}

interface Kind {
  readonly what: string
  readonly example: string
  readonly remedy: (value: string) => string | undefined
}

const unknownKind: Kind = { what: "a value of this element's type", example: "see the schema", remedy: () => undefined }

const integer: Kind = { what: "a whole number", example: "write digits only, such as 12", remedy: remedies.integer }

const kinds: Readonly<Record<string, Kind>> = {
  decimal: { what: "a decimal number", example: "write it with a point, such as 1234.50", remedy: remedies.decimal },
  date: { what: "a date", example: "write YYYY-MM-DD, such as 2026-02-01", remedy: remedies.date },
  dateTime: {
    what: "a date with a time",
    example: "write YYYY-MM-DDThh:mm:ssZ, such as 2026-02-01T09:30:00Z",
    remedy: remedies.dateTime
  },
  "etd:TNrREGON": {
    what: "a REGON",
    example: "write its 9 or 14 digits without spaces",
    remedy: () => undefined
  },
  byte: integer,
  integer,
  int: integer,
  long: integer,
  nonNegativeInteger: integer,
  positiveInteger: integer
}

const notOfPattern = (value: string, pattern: string): string => {
  const known = patterns.find((each) => each.pattern === pattern)
  if (known === undefined) return `${quoted(value)} does not have the form that the schema requires`
  const remedy = known.remedy?.(value)
  return `${quoted(value)} is not ${known.what}${remedy === undefined ? "" : `; ${remedy}`}`
}

interface KnownPattern {
  readonly pattern: string
  readonly what: string
  readonly remedy?: (value: string) => string | undefined
}

const amount = (digits: number): string =>
  `a number with at most ${digits} digits after the decimal point, without a plus sign and without leading zeros`

// The patterns of the published schemas.
const patterns: ReadonlyArray<KnownPattern> = [
  {
    pattern: String.raw`((\d{4})-(\d{2})-(\d{2}))`,
    what: "a date without a time zone: YYYY-MM-DD",
    remedy: remedies.date
  },
  { pattern: "(.)+@(.)+", what: "an email address" },
  { pattern: String.raw`\d{10}`, what: "a KRS number: ten digits" },
  {
    pattern: String.raw`(https?)://([a-zA-Z0-9][a-zA-Z0-9-]*\.)+[a-zA-Z]{2,}(:[0-9]{1,5})?(/[^\s?#]*)?\?([^#\s]*&)?IPKSeF=[0-9]{3}[a-zA-Z0-9]{10}(&[^#\s]*)?(#.*)?`,
    what: "a payment link: http:// or https://, a host name, and IPKSeF=… in its query, three digits and ten letters or digits"
  },
  {
    pattern: String.raw`[1-9]((\d[1-9])|([1-9]\d))\d{7}`,
    what: "a NIP: ten digits, without PL, hyphens or spaces",
    remedy: remedies.nip
  },
  {
    pattern: String.raw`[1-9]((\d[1-9])|([1-9]\d))\d{7}-\d{5}`,
    what: "an internal identifier: a NIP, a hyphen, five digits"
  },
  { pattern: String.raw`-?([1-9]\d{0,15}|0)(\.\d{1,2})?`, what: amount(2), remedy: remedies.decimal },
  { pattern: String.raw`-?([1-9]\d{0,15}|0)(\.\d{1,6})?`, what: amount(6), remedy: remedies.decimal },
  { pattern: String.raw`-?([1-9]\d{0,13}|0)(\.\d{1,8})?`, what: amount(8), remedy: remedies.decimal },
  { pattern: "[A-Z]{6}[A-Z0-9]{2}([A-Z0-9]{3}){0,1}", what: "a SWIFT code: 8 or 11 capital letters and digits" },
  { pattern: "[0-9]{3}[a-zA-Z0-9]{10}", what: "a payment identifier: three digits, then ten letters and digits" },
  {
    pattern: String.raw`(\d|[A-Z]|\+|\*){1,12}`,
    what: "an EU VAT number without its country code: up to 12 digits and capital letters"
  },
  {
    pattern: String.raw`([1-9]((\d[1-9])|([1-9]\d))\d{7}|M\d{9}|[A-Z]{3}\d{7})-(20[2-9][0-9]|2[1-9][0-9]{2}|[3-9][0-9]{3})(0[1-9]|1[0-2])(0[1-9]|[1-2][0-9]|3[0-1])-([0-9A-F]{6})-?([0-9A-F]{6})-([0-9A-F]{2})`,
    what: "a KSeF number such as 5265877635-20260201-0A1B2C3D4E5F-6A"
  }
]
