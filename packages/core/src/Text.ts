/**
 * Properties of text: whether Postgres can store it, and its length.
 *
 * @since 0.1.0
 */

/**
 * Returns whether Postgres can store `text`: it has no NUL and no unpaired surrogate.
 *
 * @category guards
 * @since 0.1.0
 */
export const isStorable = (text: string): boolean => !text.includes("\u0000") && text.isWellFormed()

/**
 * Returns the length of `text` in Unicode code points, the unit of all length limits of the API.
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
 * Returns the first `maxLength` Unicode code points of `text`.
 *
 * @category getters
 * @since 0.1.0
 */
export const truncate = (text: string, maxLength: number): string => {
  if (text.length <= maxLength) return text
  let end = 0
  for (let count = 0; count < maxLength && end < text.length; count++) end += text.codePointAt(end)! > 0xffff ? 2 : 1
  return text.slice(0, end)
}

/**
 * Returns the length of `text` in bytes of UTF-8. An unpaired surrogate counts as U+FFFD, three bytes.
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
