/**
 * The checksum of KSeF's numbers: CRC-8 with polynomial 0x07, initial value 0, bits not reflected.
 *
 * @since 0.1.0
 */

/**
 * Returns the checksum of ASCII text as two uppercase hexadecimal digits.
 *
 * @category hashing
 * @since 0.1.0
 */
export const checksum = (ascii: string): string => {
  let crc = 0
  for (let index = 0; index < ascii.length; index++) {
    crc ^= ascii.charCodeAt(index)
    for (let bit = 0; bit < 8; bit++) crc = (crc & 0x80) === 0 ? crc << 1 : ((crc << 1) ^ 0x07) & 0xff
  }
  return crc.toString(16).toUpperCase().padStart(2, "0")
}
