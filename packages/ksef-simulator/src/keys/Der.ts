/**
 * Writes DER (ITU-T X.690), as far as certificates need it. `Certificate.ts` knows which value goes where.
 */

const tag = { boolean: 0x01, integer: 0x02, bitString: 0x03, octetString: 0x04, oid: 0x06, utf8: 0x0c } as const

const encoded = (identifier: number, content: Uint8Array): Buffer => {
  const { length } = content
  if (length < 0x80) return Buffer.concat([Buffer.from([identifier, length]), content])
  const bytes = Buffer.from(length.toString(16).padStart(length > 0xff_ff ? 6 : length > 0xff ? 4 : 2, "0"), "hex")
  return Buffer.concat([Buffer.from([identifier, 0x80 | bytes.length]), bytes, content])
}

/** A SEQUENCE of encoded values. */
export const sequence = (...values: ReadonlyArray<Uint8Array>): Buffer => encoded(0x30, Buffer.concat(values))

/** A SET of one encoded value. */
export const set = (value: Uint8Array): Buffer => encoded(0x31, value)

/** A value under an explicit context tag. */
export const explicit = (number: number, value: Uint8Array): Buffer => encoded(0xa0 | number, value)

/** An unsigned INTEGER of big-endian bytes. */
export const integer = (bytes: Uint8Array): Buffer => {
  const first = bytes.findIndex((byte) => byte !== 0)
  const digits = first === -1 ? Buffer.from([0]) : Buffer.from(bytes.subarray(first))
  return encoded(tag.integer, digits[0]! >= 0x80 ? Buffer.concat([Buffer.from([0]), digits]) : digits)
}

/** BOOLEAN true. */
export const yes = encoded(tag.boolean, Buffer.from([0xff]))

/** An OBJECT IDENTIFIER in dotted form. */
export const oid = (dotted: string): Buffer => {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number)
  const bytes = [first * 40 + second, ...rest].flatMap((arc) => {
    const septets = [arc & 0x7f]
    for (let left = arc >> 7; left > 0; left >>= 7) septets.unshift((left & 0x7f) | 0x80)
    return septets
  })
  return encoded(tag.oid, Buffer.from(bytes))
}

/** A UTF8String. */
export const text = (value: string): Buffer => encoded(tag.utf8, Buffer.from(value, "utf8"))

/** An OCTET STRING. */
export const octets = (bytes: Uint8Array): Buffer => encoded(tag.octetString, bytes)

/** A BIT STRING with the number of bits of its last byte that do not count. */
export const bits = (bytes: Uint8Array, unused = 0): Buffer =>
  encoded(tag.bitString, Buffer.concat([Buffer.from([unused]), bytes]))

/** A time: UTCTime up to 2049, GeneralizedTime from 2050, as RFC 5280 demands. Seconds are the finest unit. */
export const time = (millis: number): Buffer => {
  const digits = new Date(millis).toISOString().replaceAll(/[-:T]/g, "").slice(0, 14)
  return digits < "2050"
    ? encoded(0x17, Buffer.from(`${digits.slice(2)}Z`, "ascii"))
    : encoded(0x18, Buffer.from(`${digits}Z`, "ascii"))
}
