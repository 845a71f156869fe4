/**
 * Waiting for an invoice: by asking, less and less often.
 *
 * @module
 */
import type { CallOptions, Connection } from "./connection.ts"
import { type ApiError, type GovoiceError, UpoUnavailableError } from "./error.ts"
import { bounded } from "./internal/bounded.ts"
import { tell } from "./internal/tell.ts"
import {
  getInvoice,
  type InvoiceSubmission,
  submitInvoice,
  type SubmitOptions,
  type SubmittedInvoice
} from "./invoices.ts"
import type { Invoice } from "./records.ts"

declare const crypto: { randomUUID(): string }

/** Bounds of a wait. */
export interface WaitOptions extends CallOptions {
  /**
   * How long to wait, in milliseconds.
   *
   * @default 600_000
   */
  readonly deadlineMs?: number | undefined

  /** Called with the invoice when it is first seen, and whenever it has changed. What it throws is ignored. */
  readonly onProgress?: ((invoice: Invoice) => unknown) | undefined
}

const isFinal = ({ completedAt, status }: Invoice) => completedAt ?? /^(accepted|rejected|failed)$/.test(status)

const hasUpo = (invoice: Invoice) => {
  const { status, upoAvailable } = invoice
  if (!upoAvailable && isFinal(invoice) && status !== "accepted") throw new UpoUnavailableError(`No receipt: ${status}`)
  return upoAvailable
}

const waitUntil = (
  isDone: (invoice: Invoice) => unknown,
  connection: Connection,
  begin: (bounds: CallOptions) => Promise<Invoice>,
  { deadlineMs = 600_000, idempotencyKey, onProgress, signal, timeoutMs }: SubmitAndWaitOptions = {}
): Promise<Invoice> => {
  const longestPauseMs = 5000
  let invoice: Invoice | undefined
  return bounded(deadlineMs, signal, async (signal) => {
    for (let asked = 1; ; asked++) {
      let delayMs: number | undefined
      try {
        const seen = await (invoice
          ? getInvoice(connection, invoice.id, { signal, timeoutMs })
          : begin({ signal, timeoutMs }))
        if (seen.updatedAt !== invoice?.updatedAt) void tell(onProgress, seen)
        invoice = seen
        if (isDone(seen)) return seen
      } catch (error) {
        // The service may be gone for longer than one call waits.
        if (!invoice || !(error as ApiError).retryable) throw error
        delayMs = (error as ApiError).retryAfterMs
      }
      await bounded(delayMs ?? Math.random() * Math.min(longestPauseMs, 250 * 2 ** asked), signal)
    }
  }).catch((error: GovoiceError) => {
    throw Object.assign(error, { invoice, idempotencyKey })
  })
}

/**
 * Waits until the status of an invoice is final, and resolves with the invoice: accepted, rejected or failed.
 *
 * **Details**
 *
 * Asks at once, then within half a second, then less and less often, within five seconds in the end. Once the invoice
 * was seen, failures that may pass are waited out.
 *
 * @throws {TimeoutError} with the `invoice` as it was last seen; waiting may go on later.
 * @throws {AnyGovoiceError} what asking fails with for good, such as an `ApiError` `invoice_not_found`.
 */
export const waitUntilFinal = (connection: Connection, id: string, options?: WaitOptions): Promise<Invoice> =>
  waitUntil(isFinal, connection, (bounds) => getInvoice(connection, id, bounds), options)

/**
 * Waits until the official receipt (UPO) of an invoice can be downloaded, and resolves with the invoice.
 *
 * @throws {UpoUnavailableError} as soon as it cannot come any more, with the `invoice`.
 * @throws {TimeoutError} with the `invoice` as it was last seen; waiting may go on later.
 * @throws {AnyGovoiceError} what asking fails with for good, such as an `ApiError` `invoice_not_found`.
 */
export const waitForUpo = (connection: Connection, id: string, options?: WaitOptions): Promise<Invoice> =>
  waitUntil(hasUpo, connection, (bounds) => getInvoice(connection, id, bounds), options)

/** Bounds of a submission and of the wait that follows. */
export interface SubmitAndWaitOptions extends SubmitOptions, WaitOptions {
  /**
   * How long submitting and waiting may take together, in milliseconds.
   *
   * @default 600_000
   */
  readonly deadlineMs?: number | undefined
}

/**
 * Submits an invoice and waits until its status is final: `submitInvoice`, then `waitUntilFinal`.
 *
 * @throws {AnyGovoiceError} what either throws, with the `idempotencyKey`: the same call with it goes on.
 */
export const submitAndWait = async (
  connection: Connection,
  submission: InvoiceSubmission,
  options: SubmitAndWaitOptions = {}
): Promise<SubmittedInvoice> => {
  const { idempotencyKey = crypto.randomUUID() } = options
  const invoice = await waitUntil(
    isFinal,
    connection,
    (bounds) => submitInvoice(connection, submission, { ...bounds, idempotencyKey }),
    { ...options, idempotencyKey }
  )
  return { ...invoice, idempotencyKey }
}
