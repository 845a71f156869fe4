/**
 * The header `X-System-Warning`, which can come with any answer and changes nothing about it:
 * `[code]: message | [code]: message`.
 *
 * @since 0.1.0
 */

/**
 * One warning.
 *
 * @category models
 * @since 0.1.0
 */
export interface SystemWarning {
  readonly code: string
  readonly message: string
}

/**
 * Reads the warnings of a header. A header without the form is one warning without a code.
 *
 * @category parsing
 * @since 0.1.0
 */
export const read = (header: string | undefined): ReadonlyArray<SystemWarning> =>
  (header ?? "")
    .split("|")
    .map((part) => part.trim())
    .filter((part) => part !== "")
    .map((part) => {
      const [, code, message] = /^\[([^\]]+)\]:(.*)$/s.exec(part) ?? []
      return code === undefined || message === undefined
        ? { code: "", message: part }
        : { code, message: message.trim() }
    })
