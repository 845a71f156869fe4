/**
 * What text must be like to be stored: Postgres takes neither NUL nor half a surrogate pair.
 *
 * @since 0.1.0
 */

/**
 * Tells whether `text` can be stored as it is.
 *
 * @category guards
 * @since 0.1.0
 */
export const isStorable = (text: string): boolean => !text.includes("\u0000") && text.isWellFormed()

/**
 * Counts Unicode code points, the way lengths are counted in the contract.
 *
 * @category getters
 * @since 0.1.0
 */
export const codePoints = (text: string): number => {
  let count = 0
  for (const _ of text) count++
  return count
}

/**
 * Counts the bytes of `text` in UTF-8. Half a surrogate pair counts as the replacement character, three bytes.
 *
 * @category getters
 * @since 0.1.0
 */
export const utf8Bytes = (text: string): number => {
  let bytes = text.length
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    if (unit < 0x80) continue
    if (unit < 0x800) bytes += 1
    else if (unit >= 0xd800 && unit < 0xdc00 && isLowSurrogate(text.charCodeAt(index + 1))) {
      bytes += 2
      index++
    } else bytes += 2
  }
  return bytes
}

const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff
