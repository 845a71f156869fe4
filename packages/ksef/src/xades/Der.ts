/**
 * Reads DER (ITU-T X.690), as far as certificates need it.
 *
 * @since 0.1.0
 */

/**
 * One value: its tag, and its content.
 *
 * @category models
 * @since 0.1.0
 */
export interface Value {
  readonly tag: number
  readonly content: Buffer
}

/**
 * The tags that are used here.
 *
 * @category constants
 * @since 0.1.0
 */
export const tags = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  objectIdentifier: 0x06,
  utf8String: 0x0c,
  printableString: 0x13,
  teletexString: 0x14,
  ia5String: 0x16,
  universalString: 0x1c,
  bmpString: 0x1e,
  sequence: 0x30,
  set: 0x31
} as const

/**
 * Reads the values that follow one another in `bytes`.
 *
 * @throws {RangeError} where the bytes are no DER, or a tag has more than one byte.
 * @category parsing
 * @since 0.1.0
 */
export const readAll = (bytes: Buffer): ReadonlyArray<Value> => {
  const values: Array<Value> = []
  for (let offset = 0; offset < bytes.length;) {
    const tag = bytes.readUInt8(offset)
    if ((tag & 0x1f) === 0x1f) throw new RangeError("Expected a tag of one byte")
    const first = bytes.readUInt8(offset + 1)
    const sizeBytes = first < 0x80 ? 0 : first & 0x7f
    if (first === 0x80 || sizeBytes > 4) throw new RangeError("Expected a definite length of at most four bytes")
    const length = sizeBytes === 0 ? first : bytes.readUIntBE(offset + 2, sizeBytes)
    const start = offset + 2 + sizeBytes
    if (start + length > bytes.length) throw new RangeError("Expected more bytes")
    values.push({ tag, content: bytes.subarray(start, start + length) })
    offset = start + length
  }
  return values
}

/**
 * Returns a value that has to be there.
 *
 * @throws {RangeError} where it is missing.
 * @category parsing
 * @since 0.1.0
 */
export const required = (value: Value | undefined): Value => {
  if (value === undefined) throw new RangeError("Expected a value")
  return value
}

/**
 * Reads the values within a value that has to be there.
 *
 * @throws {RangeError} where it is missing, or its content is no DER.
 * @category parsing
 * @since 0.1.0
 */
export const inner = (value: Value | undefined): ReadonlyArray<Value> => readAll(required(value).content)

// The numbers of an identifier have no size limit, and long ones take time with the square of their length.
const maxIdentifierBytes = 64

/**
 * Reads an object identifier into its dotted form, such as `2.5.4.97`.
 *
 * @throws {RangeError} for one of more than 64 bytes. The longest in use has half of them.
 * @category parsing
 * @since 0.1.0
 */
export const objectIdentifier = (content: Buffer): string => {
  if (content.length > maxIdentifierBytes) throw new RangeError("Expected an object identifier of at most 64 bytes")
  const arcs: Array<bigint> = []
  let arc = 0n
  for (const byte of content) {
    arc = (arc << 7n) | BigInt(byte & 0x7f)
    if (byte < 0x80) {
      arcs.push(arc)
      arc = 0n
    }
  }
  const [root = 0n, ...rest] = arcs
  const first = root < 40n ? 0n : root < 80n ? 1n : 2n
  return [first, root - first * 40n, ...rest].join(".")
}

/**
 * Reads the object identifier of a value that has to be there.
 *
 * @throws {RangeError} where it is missing, or its identifier too long.
 * @category parsing
 * @since 0.1.0
 */
export const identifier = (value: Value | undefined): string => objectIdentifier(required(value).content)

/**
 * Decodes the value of a character string, or returns `undefined` for any other tag.
 *
 * @category parsing
 * @since 0.1.0
 */
export const text = ({ content, tag }: Value): string | undefined => {
  switch (tag) {
    case tags.utf8String:
      return content.toString("utf8")
    case tags.printableString:
    case tags.teletexString:
    case tags.ia5String:
      return content.toString("latin1")
    case tags.bmpString:
      return Buffer.from(content).swap16().toString("utf16le")
    default:
      return undefined
  }
}

/**
 * Writes a value, for what has to be given on as hexadecimal text.
 *
 * @category encoding
 * @since 0.1.0
 */
export const write = ({ content, tag }: Value): Buffer => {
  const { length } = content
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >>> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}
