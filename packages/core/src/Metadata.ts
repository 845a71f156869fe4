/**
 * The metadata of an invoice: strings by name, within limits.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as Text from "./Text.ts"

/**
 * The limits of metadata. Lengths are in Unicode code points.
 *
 * @category constants
 * @since 0.1.0
 */
export const limits = { keys: 50, keyLength: 40, valueLength: 500 } as const

/**
 * The metadata of an invoice.
 *
 * @category models
 * @since 0.1.0
 */
export const Metadata = Schema.Record(Schema.String, Schema.String).annotate({
  description: `Strings by name: at most ${limits.keys} keys of at most ${limits.keyLength} characters, values of at most ${limits.valueLength}.`
})

/**
 * Type of a decoded `Metadata`.
 *
 * @category models
 * @since 0.1.0
 */
export type Metadata = typeof Metadata.Type

/**
 * Returns a sentence that says why `value` is not valid metadata, or `undefined` if it is valid.
 *
 * **Details**
 *
 * The sentence names the key at fault and never contains a value.
 *
 * **Example** (Checking metadata)
 *
 * ```ts import.meta.vitest
 * import { Metadata } from "@govoice/core"
 *
 * Metadata.fault({ order: "2026/11/0042" }) // => undefined
 * Metadata.fault({ order: 42 }) // => 'The metadata value of "order" must be a string.'
 * ```
 *
 * @category guards
 * @since 0.1.0
 */
export const fault = (value: unknown): string | undefined => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return "metadata must be an object whose values are strings."
  }
  const entries = Object.entries(value)
  if (entries.length > limits.keys) return `metadata may have at most ${limits.keys} keys.`
  for (const [key, text] of entries as Array<[string, unknown]>) {
    if (!Text.isStorable(key)) return "A metadata key contains a NUL or an unpaired surrogate."
    if (Text.codePoints(key) > limits.keyLength) {
      return `A metadata key may have at most ${limits.keyLength} characters.`
    }
    if (typeof text !== "string") return `The metadata value of ${JSON.stringify(key)} must be a string.`
    if (!Text.isStorable(text)) {
      return `The metadata value of ${JSON.stringify(key)} contains a NUL or an unpaired surrogate.`
    }
    if (Text.codePoints(text) > limits.valueLength) {
      return `The metadata value of ${JSON.stringify(key)} may have at most ${limits.valueLength} characters.`
    }
  }
  return undefined
}
