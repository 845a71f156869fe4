/**
 * The connection to the developer API. The operations are functions that take it.
 *
 * @module
 * @since 0.1.0
 */
import { assertMatches, assertSet, checkOptions, connectionOptions } from "./internal/checkOptions.ts"
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
 * @throws {TypeError} if an option is unknown or invalid.
 * @category constructors
 * @since 0.1.0
 */
export const createConnection = (options: DeveloperOptions): Connection => {
  const { apiKey } = checkOptions(options, `apiKey ${connectionOptions}`)
  assertSet("apiKey", apiKey, "GOVOICE_API_KEY")
  // `fetch` rejects other characters in a header with an error that quotes the value.
  assertMatches(apiKey, /^[!-~]+$/, "apiKey must not have white space or special characters.")
  return { "~send": createTransport(options, "/", () => apiKey) }
}
