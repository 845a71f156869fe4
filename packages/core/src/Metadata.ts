/**
 * The caller's own notes on an invoice: an object of strings, within bounds.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as Text from "./Text.ts"

/**
 * How much metadata an invoice may carry. Lengths are in Unicode code points.
 *
 * @category constants
 * @since 0.1.0
 */
export const bounds = { keys: 50, keyLength: 40, valueLength: 500 } as const

/**
 * The metadata of an invoice.
 *
 * @category models
 * @since 0.1.0
 */
export const Metadata = Schema.Record(Schema.String, Schema.String).annotate({
  description: `Strings by name: at most ${bounds.keys} keys of at most ${bounds.keyLength} characters, values of at most ${bounds.valueLength}.`
})

/**
 * Type of a decoded `Metadata`.
 *
 * @category models
 * @since 0.1.0
 */
export type Metadata = typeof Metadata.Type

/**
 * Says what is wrong with a value given as metadata, or `undefined` when nothing is.
 *
 * **Details**
 *
 * The sentence names the key where there is one, and never repeats a value.
 *
 * **Example** (Judging metadata)
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
  if (entries.length > bounds.keys) return `metadata may have at most ${bounds.keys} keys.`
  for (const [key, text] of entries as Array<[string, unknown]>) {
    if (!Text.isStorable(key)) return "A metadata key contains a NUL or an unpaired surrogate."
    if (Text.codePoints(key) > bounds.keyLength) {
      return `A metadata key may have at most ${bounds.keyLength} characters.`
    }
    if (typeof text !== "string") return `The metadata value of ${JSON.stringify(key)} must be a string.`
    if (!Text.isStorable(text)) {
      return `The metadata value of ${JSON.stringify(key)} contains a NUL or an unpaired surrogate.`
    }
    if (Text.codePoints(text) > bounds.valueLength) {
      return `The metadata value of ${JSON.stringify(key)} may have at most ${bounds.valueLength} characters.`
    }
  }
  return undefined
}
