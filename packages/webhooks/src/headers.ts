/**
 * Reads the three headers of a webhook from any common representation.
 *
 * @module
 * @since 0.1.0
 */
import { check } from "./error.ts"

/**
 * The headers of a received webhook: `Headers`, a record with names in any case, Node's `IncomingHttpHeaders`, a `Map` or
 * another iterable of entries.
 *
 * @category models
 * @since 0.1.0
 */
export type WebhookHeaders =
  | { get(name: string): string | null; append(name: string, value: string): void }
  | Iterable<readonly [name: string, value: string | ReadonlyArray<string> | undefined]>
  | { readonly [name: string]: string | ReadonlyArray<string> | undefined }

/** The values of the three headers. */
export type GovHeaders = readonly [
  id: string,
  /** As received. The signature covers this text. */
  timestamp: string,
  /** The timestamp in milliseconds since the epoch. */
  time: number,
  /** The `v1` signatures, at most 8, each 64 lowercase hex digits. Empty if the header has other versions only. */
  signatures: ReadonlyArray<string>
]

const names = ["gov-event-id", "gov-timestamp", "gov-signature"]

type Value = string | ReadonlyArray<string> | undefined

/**
 * Returns the values of the three headers. Each must be present once and well-formed.
 *
 * @throws {WebhookVerificationError} `duplicate_header`, `missing_header`, `malformed_header`, `malformed_timestamp`.
 */
export const readHeaders = (headers: WebhookHeaders): GovHeaders => {
  const found: Array<string> = []
  const add = (name: string, value: Value) => {
    const index = names.indexOf(name.toLowerCase())
    if (value && index >= 0) {
      check(
        // `value[1]?.[1]` is truthy for an array of two values, never for a string. `Headers` and Node join repeated
        // headers with a comma and a space, which only a list of signatures may contain.
        !(found[index] || value[1]?.[1] || (index < 2 && /, /.test(value as string))),
        "duplicate_header",
        names[index]!
      )
      found[index] = value + ""
    }
  }
  if ((headers as Partial<Iterable<unknown>>)?.[Symbol.iterator]) {
    for (const [name, value] of headers as Iterable<[string, Value]>) add(name, value)
  } else for (const name in headers) add(name, (headers as Record<string, Value>)[name])
  const [id, timestamp, signature] = names.map(
    (name, index) => (check(found[index], "missing_header", name), found[index])
  ) as [string, string, string]

  const signatures = signature.split(",", 8).flatMap((entry) => entry.match(/^\s*v1=([\da-f]{64})\s*$/)?.[1] || [])
  check(signatures[0] || /^(?!v1=)\w+=/.test(signature), "malformed_header", "gov-signature")

  const time = new Date(timestamp)
  check(
    // Engines parse February 30 as a day in March and 24:00 as the next day, so the parsed date is formatted and compared.
    timestamp.startsWith(time.toJSON()?.slice(0, 19)) && /^\d.{18}(\.\d+)?Z$/.test(timestamp),
    "malformed_timestamp",
    "gov-timestamp"
  )
  return [id, timestamp, +time, signatures]
}
