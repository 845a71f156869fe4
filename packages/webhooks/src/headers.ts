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

const names = ["gov-event-id", "gov-timestamp", "gov-signature"] as const

type Found = ReadonlyArray<unknown>

/** The values of the event id, the timestamp and the signature. Each has to be there, once. */
export const readHeaders = (headers: WebhookHeaders): ReadonlyArray<string> => {
  const found: Array<Found> = [[], [], []]
  const add = (name: string, value: unknown) => {
    const index = names.indexOf(name.toLowerCase() as (typeof names)[0])
    if (index >= 0) found[index] = found[index]!.concat(value ?? [])
  }
  const source = Object(headers) as Partial<Iterable<[string, unknown]>> & { readonly [name: string]: unknown }
  if (source[Symbol.iterator]) for (const [name, value] of source as Iterable<[string, unknown]>) add(name, value)
  else for (const name of Object.keys(source)) add(name, source[name])
  return found.map(([value, more], index) => {
    // `Headers` and Node join what is repeated. Only a list of signatures may contain a comma and a space.
    check(!more && (index > 1 || !/, /.test(value as string)), "duplicate_header", names[index])
    check(value, "missing_header", names[index])
    return String(value)
  })
}

/** The `v1=…` entries among the first 8 of `Gov-Signature`. Other versions are skipped. */
export const readSignatures = (header: string): ReadonlyArray<string> => {
  const entries = header.split(",", 8).map((entry) => entry.trim())
  const signatures = entries.filter((entry) => /^v1=[0-9a-f]{64}$/.test(entry))
  check(signatures[0] || /^(?!v1=)\w+=/.test(header), "malformed_header", names[2])
  return signatures
}

/** The time in `Gov-Timestamp`: ISO 8601 in UTC, of a date that exists. */
export const readTimestamp = (text: string): Date => {
  const time = new Date(text)
  check(
    // Engines read the 30th of February as a day in March, and 24:00 as the next day.
    /^\d{4}(-\d\d){2}T\d\d(:\d\d){2}(\.\d+)?Z$/.test(text) && time.getUTCDate() === Number(text.slice(8, 10)),
    "malformed_timestamp",
    names[1]
  )
  return time
}
