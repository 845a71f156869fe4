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

/** Of the event id, the timestamp and the signature, in the order in which {@link readHeaders} gives their values. */
export const names = ["gov-event-id", "gov-timestamp", "gov-signature"]

type Value = string | ReadonlyArray<string> | undefined

/** The values of the three headers. Each has to be there, once. */
export const readHeaders = (headers: WebhookHeaders): ReadonlyArray<string> => {
  const found: Array<string> = []
  const add = (name: string, value: Value) => {
    // Most headers are told apart by one character.
    const index = names.indexOf((name[3] === "-" && name.toLowerCase()) as string)
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
  return names.map((name, index) => found[index] || (check(false, "missing_header", name) as never))
}
