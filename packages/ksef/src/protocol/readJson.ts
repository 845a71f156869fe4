/** Reads JSON that others wrote. */

// An escape: of a pair of surrogates, of NUL or a surrogate alone, or another one.
const escape = /\\(?:ud[89ab][\da-f]{2}\\ud[c-f][\da-f]{2}|(u0000|ud[89a-f][\da-f]{2})|.)/gis

/**
 * Parses JSON. What no database stores as text, NUL and unpaired surrogates, is U+FFFD in its texts and names: KSeF may pass on what
 * somebody else wrote.
 *
 * @throws {SyntaxError} when it is none.
 */
export const readJson = (text: string): unknown =>
  JSON.parse(
    /\\u(?:0000|d[89a-f])/i.test(text)
      ? text.replace(escape, (found, unstorable?: string) => (unstorable === undefined ? found : "\\ufffd"))
      : text
  )
