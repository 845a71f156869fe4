/**
 * The three headers of a webhook, wherever a framework keeps them.
 *
 * @module
 */
import { check } from "./error.ts"

/**
 * The headers of a received webhook: `Headers`, a record in any case, Node's `IncomingHttpHeaders`, a `Map` or any
 * other iterable of entries.
 */
export type WebhookHeaders =
  | { get(name: string): string | null; append(name: string, value: string): void }
  | Iterable<readonly [name: string, value: string | ReadonlyArray<string> | undefined]>
  | { readonly [name: string]: string | ReadonlyArray<string> | undefined }

/** What the three headers say. */
export type Envelope = readonly [
  id: string,
  /** As received, which is what was signed. */
  timestamp: string,
  /** The same, in milliseconds since the epoch. */
  time: number,
  /** Those of `v1`, at most 8, each 64 lower-case hex digits. Empty when there are other versions only. */
  signatures: ReadonlyArray<string>
]

const names = ["gov-event-id", "gov-timestamp", "gov-signature"]

type Value = string | ReadonlyArray<string> | undefined

/**
 * Reads the three headers. Each has to be there, once, and of the form that it should have.
 *
 * @throws {WebhookVerificationError} `duplicate_header`, `missing_header`, `malformed_header`, `malformed_timestamp`.
 */
export const readHeaders = (headers: WebhookHeaders): Envelope => {
  const found: Array<string> = []
  const add = (name: string, value: Value) => {
    const index = names.indexOf(name.toLowerCase())
    if (value && index >= 0) {
      check(
        // In an array that is the second value; in a string a character, which has no second one. `Headers` and Node
        // join what is repeated, and only a list of signatures may contain a comma and a space.
        !(found[index] || value[1]?.[1] || (index < 2 && /, /.test(value as string))),
        "duplicate_header",
        name
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
    // Engines read the 30th of February as a day in March, and 24:00 as the next day: so what was read is written again.
    timestamp.startsWith(time.toJSON()?.slice(0, 19)) && /^\d.{18}(\.\d+)?Z$/.test(timestamp),
    "malformed_timestamp",
    "gov-timestamp"
  )
  return [id, timestamp, +time, signatures]
}
