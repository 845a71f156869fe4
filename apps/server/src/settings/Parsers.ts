/**
 * How the text of an environment variable becomes a value.
 *
 * A parser returns the value or throws a `SettingFault` with a sentence that says what is wanted. The sentence never
 * repeats what was given: it may be a secret.
 *
 * @since 0.1.0
 */

/**
 * A setting that cannot be read. `message` says what is wanted instead.
 *
 * @category errors
 * @since 0.1.0
 */
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

/** A list separated by commas, without empty entries. */
export const list =
  <A>(parse: Parser<A>): Parser<ReadonlyArray<A>> =>
  (value) => {
    const entries = value.split(",").map((entry) => entry.trim())
    if (entries.includes("")) refuse("must be a list separated by commas, without empty entries")
    return entries.map(parse)
  }

/** A network in CIDR notation, such as `127.0.0.0/8` or `fd00::/8`. */
export const network: Parser<string> = (value) => {
  const [address = "", prefix = "", ...rest] = value.split("/")
  const isIPv6 = address.includes(":")
  const readable = isIPv6
    ? URL.canParse(`http://[${address}]`)
    : /^\d{1,3}(\.\d{1,3}){3}$/.test(address) && address.split(".").every((octet) => Number(octet) <= 255)
  return readable && rest.length === 0 && /^\d{1,3}$/.test(prefix) && Number(prefix) <= (isIPv6 ? 128 : 32)
    ? value
    : refuse("must name networks such as 10.0.0.0/8 or fd00::/8")
}

/** One encryption key: an identifier, a colon, 32 bytes in base64. */
export interface EncryptionKey {
  readonly id: string
  readonly bytes: Uint8Array
}

export const encryptionKeys: Parser<ReadonlyArray<EncryptionKey>> = (value) => {
  const keys = list((entry) => {
    const [, id, encoded] = /^([A-Za-z0-9_-]{1,32}):([A-Za-z0-9+/]{43}=)$/.exec(entry) ?? []
    return id === undefined || encoded === undefined
      ? refuse("must be a list of id:key, each key 32 bytes in base64 (openssl rand -base64 32)")
      : { id, bytes: new Uint8Array(Buffer.from(encoded, "base64")) }
  })(value)
  return new Set(keys.map(({ id }) => id)).size === keys.length ? keys : refuse("names two keys with the same id")
}
