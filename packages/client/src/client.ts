/**
 * The developer API as one object, for those who want methods.
 *
 * @module
 */
import { type CallOptions, type Connection, createConnection, type DeveloperOptions } from "./connection.ts"
import { bind } from "./internal/bind.ts"
import {
  downloadUpo,
  getInvoice,
  getMe,
  type InvoiceSubmission,
  submitInvoice,
  type SubmitOptions,
  type SubmittedInvoice,
  type Upo
} from "./invoices.ts"
import type { Invoice, Me } from "./records.ts"
import { submitAndWait, type SubmitAndWaitOptions, waitForUpo, waitUntilFinal, type WaitOptions } from "./waiting.ts"

/** The developer API. Each method is the function of the same name, and may be taken off the object. */
export interface Client extends Connection {
  /** Shows the API key that the client has, and its organization. */
  readonly me: (options?: CallOptions) => Promise<Me>

  readonly invoices: {
    /** Submits an invoice: see `submitInvoice`. */
    readonly submit: (submission: InvoiceSubmission, options?: SubmitOptions) => Promise<SubmittedInvoice>

    /** Shows where an invoice stands: see `getInvoice`. */
    readonly get: (id: string, options?: CallOptions) => Promise<Invoice>

    /** Waits until the status of an invoice is final: see `waitUntilFinal`. */
    readonly waitUntilFinal: (id: string, options?: WaitOptions) => Promise<Invoice>

    /** Waits until the official receipt can be downloaded: see `waitForUpo`. */
    readonly waitForUpo: (id: string, options?: WaitOptions) => Promise<Invoice>

    /** Downloads the official receipt: see `downloadUpo`. */
    readonly downloadUpo: (id: string, options?: CallOptions) => Promise<Upo>

    /** Submits an invoice and waits until its status is final: see `submitAndWait`. */
    readonly submitAndWait: (submission: InvoiceSubmission, options?: SubmitAndWaitOptions) => Promise<SubmittedInvoice>
  }
}

/**
 * A client of the developer API.
 *
 * **Example** (Submitting an invoice)
 *
 * ```ts
 * import { createClient } from "@govoice/client"
 *
 * const client = createClient({ apiKey: "sk_test_…", baseUrl: "https://api.example.com" })
 *
 * const { id } = await client.invoices.submit({ invoiceXml: "<Faktura>…</Faktura>" })
 * const { officialNumber, status } = await client.invoices.waitUntilFinal(id)
 * ```
 *
 * @throws {TypeError} when `baseUrl` or `apiKey` cannot be one.
 */
export const createClient = (options: DeveloperOptions): Client => {
  const connection = createConnection(options)
  return {
    ...connection,
    me: bind(connection, getMe),
    invoices: {
      submit: bind(connection, submitInvoice),
      get: bind(connection, getInvoice),
      waitUntilFinal: bind(connection, waitUntilFinal),
      waitForUpo: bind(connection, waitForUpo),
      downloadUpo: bind(connection, downloadUpo),
      submitAndWait: bind(connection, submitAndWait)
    }
  }
}
