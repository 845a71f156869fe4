/**
 * Parsers of environment variables.
 *
 * A parser returns the value or throws a `SettingFault` that says what is expected. The message never contains the given
 * value, because it may be a secret.
 */
import type { OptionParsers } from "@govoice/dispatcher"
import { Environment } from "@govoice/ksef/client"
import { Result } from "effect"
import { faultOf } from "./postgresUrl.ts"

/** A setting that cannot be read. `message` continues a sentence that begins with the name of the setting. */
export class SettingFault extends Error {}

const refuse = (message: string): never => {
  throw new SettingFault(message)
}

export type Parser<A> = (text: string) => A

export const integer =
  (min: number, max: number): Parser<number> =>
  (text) =>
    /^\d{1,15}$/.test(text) && Number(text) >= min && Number(text) <= max
      ? Number(text)
      : refuse(`must be a whole number from ${min} to ${max}`)

export const boolean: Parser<boolean> = (text) =>
  text === "true" ? true : text === "false" ? false : refuse("must be true or false")

export const oneOf =
  <const Values extends ReadonlyArray<string>>(...values: Values): Parser<Values[number]> =>
  (text) =>
    values.find((value) => value === text) ?? refuse(`must be one of: ${values.join(", ")}`)

export const text: Parser<string> = (value) => value

export const secret =
  (minLength: number): Parser<string> =>
  (value) =>
    value.length >= minLength ? value : refuse(`must have at least ${minLength} characters`)

export const url =
  (...schemes: ReadonlyArray<string>): Parser<string> =>
  (value) =>
    URL.canParse(value) && schemes.includes(new URL(value).protocol.slice(0, -1))
      ? value
      : refuse(`must be a URL that begins with ${schemes.map((scheme) => `${scheme}://`).join(" or ")}`)

/** The name of a cell. */
export const cellName: Parser<string> = (value) =>
  /^[a-z][a-z0-9]{0,31}$/.test(value) ? value : refuse("must be 1 to 32 lower-case letters and digits, a letter first")

/** The connection URL of a Postgres. */
export const postgresUrl: Parser<string> = (value) => {
  const fault = faultOf(value)
  return fault === undefined ? value : refuse(fault)
}

/** The base URL of a KSeF that is not the Ministry's. */
export const ksefUrl: Parser<Environment.Environment> = (value) => {
  const hostname = URL.parse(value)?.hostname ?? ""
  if (hostname.endsWith(".ksef.mf.gov.pl")) {
    return refuse("must not name an environment of the Ministry: set GOVOICE_KSEF_ENVIRONMENT instead")
  }
  const environment = Environment.at(value)
  return Result.isSuccess(environment)
    ? environment.success
    : refuse("must be a URL that ends in /v2, with https, or with http on a loopback address, and without credentials")
}

const entriesOf = (value: string): ReadonlyArray<string> => {
  const entries = value.split(",").map((entry) => entry.trim())
  return entries.includes("") ? refuse("must be a list separated by commas, without empty entries") : entries
}

/** A list separated by commas, each entry read by `parse`. */
export const list =
  <A>(parse: Parser<A>): Parser<ReadonlyArray<A>> =>
  (value) =>
    entriesOf(value).map(parse)

/** A list of whole numbers, separated by commas. */
export const integers =
  (min: number, max: number): Parser<ReadonlyArray<number>> =>
  (value) => {
    try {
      return list(integer(min, max))(value)
    } catch {
      return refuse(`must be a list of whole numbers from ${min} to ${max}, separated by commas, such as 5000,60000`)
    }
  }

/** A parser of the dispatcher, so that settings and options accept the same. */
export const ofDispatcher =
  <Input, A>(parse: (input: Input) => OptionParsers.Parsed<A>): ((input: Input) => A) =>
  (input) => {
    const parsed = parse(input)
    return parsed.ok ? parsed.value : refuse(parsed.fault)
  }

/** A list separated by commas, read as a whole by a parser of the dispatcher. */
export const listOf = <A>(parse: (entries: ReadonlyArray<string>) => OptionParsers.Parsed<A>): Parser<A> => {
  const read = ofDispatcher(parse)
  return (value) => read(entriesOf(value))
}

/** One encryption key: an identifier and 32 bytes. */
export interface EncryptionKey {
  readonly id: string
  readonly bytes: Uint8Array
}

/** The form of the identifier of an encryption key. */
export const encryptionKeyId = /^[A-Za-z0-9_-]{1,32}$/

const encryptionKey: Parser<EncryptionKey> = (entry) => {
  const [, id, encoded] = /^([A-Za-z0-9_-]{1,32}):([A-Za-z0-9+/]{43}=)$/.exec(entry) ?? []
  return id === undefined || encoded === undefined
    ? refuse("must be a list of id:key, each key 32 bytes in base64 (openssl rand -base64 32)")
    : { id, bytes: new Uint8Array(Buffer.from(encoded, "base64")) }
}

export const encryptionKeys: Parser<ReadonlyArray<EncryptionKey>> = (value) => {
  const keys = list(encryptionKey)(value)
  return new Set(keys.map(({ id }) => id)).size === keys.length ? keys : refuse("has two keys with the same id")
}
