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

const longestPauseMs = 5000

const waitUntil = async (
  connection: Connection,
  isDone: (invoice: Invoice) => unknown,
  { deadlineMs = 600_000, onProgress, signal, timeoutMs }: WaitOptions = {},
  begin: (bounds: CallOptions) => Promise<Invoice>
): Promise<Invoice> => {
  let invoice: Invoice | undefined
  try {
    return await bounded(deadlineMs, signal, async (signal) => {
      const bounds = { signal, timeoutMs }
      for (let pauseMs = 500; ; pauseMs = Math.min(longestPauseMs, pauseMs * 1.5)) {
        let delayMs = pauseMs * Math.random()
        try {
          const seen = await (invoice ? getInvoice(connection, invoice.id, bounds) : begin(bounds))
          if (seen.updatedAt !== invoice?.updatedAt) void tell(onProgress, seen)
          invoice = seen
          if (isDone(seen)) return seen
        } catch (error) {
          const { retryable, retryAfterMs = 0 } = error as ApiError
          // The service may be gone for longer than one call waits.
          if (!invoice || !retryable) throw error
          delayMs = Math.max(delayMs, retryAfterMs)
        }
        await bounded(delayMs, signal)
      }
    })
  } catch (error) {
    throw Object.assign(error as GovoiceError, { invoice })
  }
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
  waitUntil(connection, isFinal, options, (bounds) => getInvoice(connection, id, bounds))

/**
 * Waits until the official receipt (UPO) of an invoice can be downloaded, and resolves with the invoice.
 *
 * @throws {UpoUnavailableError} as soon as it cannot come any more, with the `invoice`.
 * @throws {TimeoutError} with the `invoice` as it was last seen; waiting may go on later.
 * @throws {AnyGovoiceError} what asking fails with for good, such as an `ApiError` `invoice_not_found`.
 */
export const waitForUpo = async (connection: Connection, id: string, options?: WaitOptions): Promise<Invoice> => {
  const invoice = await waitUntil(
    connection,
    (invoice) => invoice.upoAvailable || (isFinal(invoice) && invoice.status !== "accepted"),
    options,
    (bounds) => getInvoice(connection, id, bounds)
  )
  if (invoice.upoAvailable) return invoice
  throw new UpoUnavailableError(`No receipt: ${invoice.status}`, { invoice })
}

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
  try {
    const invoice = await waitUntil(connection, isFinal, options, (bounds) =>
      submitInvoice(connection, submission, { ...bounds, idempotencyKey })
    )
    return { ...invoice, idempotencyKey }
  } catch (error) {
    throw Object.assign(error as GovoiceError, { idempotencyKey })
  }
}
