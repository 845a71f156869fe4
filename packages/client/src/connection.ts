/**
 * The connection to the developer API. The operations are functions that take it.
 *
 * @module
 * @since 0.1.0
 */
import { assertMatches } from "./internal/assertMatches.ts"
import { createTransport, type Send } from "./internal/transport.ts"
import type { DeveloperOptions } from "./options.ts"

/**
 * A connection to the developer API. Its members are private to this package.
 *
 * @category models
 * @since 0.1.0
 */
export interface Connection {
  readonly "~send": Send
  readonly "~api"?: "developer"
}

/**
 * Creates a connection to the developer API, for functions such as `submitInvoice`.
 *
 * **When to use**
 *
 * Use in place of `createClient` if bundle size matters: functions that are not used are not bundled.
 *
 * **Example** (Reading one invoice)
 *
 * ```ts
 * import { createConnection, getInvoice } from "@govoice/client"
 *
 * const connection = createConnection({ apiKey: "sk_test_…", baseUrl: "https://api.example.com" })
 *
 * const { status } = await getInvoice(connection, "inv_01m7q5cqg0e6786ptds43fm4k3")
 * ```
 *
 * @throws {TypeError} if `baseUrl` or `apiKey` is invalid.
 * @category constructors
 * @since 0.1.0
 */
export const createConnection = ({ apiKey, ...options }: DeveloperOptions): Connection => {
  // `fetch` rejects other characters in a header with an error that quotes the value.
  assertMatches(
    apiKey,
    /^[!-~]+$/,
    apiKey
      ? "apiKey must not have white space or special characters."
      : `apiKey is ${apiKey === "" ? "empty" : typeof apiKey}: is GOVOICE_API_KEY set?`
  )
  return { "~send": createTransport(options, "/", () => apiKey) }
}
