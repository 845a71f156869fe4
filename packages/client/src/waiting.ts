/**
 * Waiting for an invoice: by asking, less and less often.
 *
 * @module
 */
import type { CallOptions, Connection } from "./connection.ts"
import { type ApiError, type GovoiceError, TimeoutError, UpoUnavailableError } from "./error.ts"
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

declare const performance: { now(): number }

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

const isFinal = ({ completedAt, status }: Invoice) =>
  completedAt !== null || /^(accepted|rejected|failed)$/.test(status)

const longestPauseMs = 5000

const waitUntil = async (
  connection: Connection,
  id: string,
  isDone: (invoice: Invoice) => boolean,
  { deadlineMs = 600_000, onProgress, signal, timeoutMs }: WaitOptions = {},
  invoice?: Invoice
): Promise<Invoice> => {
  const expires = performance.now() + deadlineMs
  const remainingMs = () => expires - performance.now()
  for (let pauseMs = 250; ; pauseMs = Math.min(longestPauseMs, pauseMs * 1.5)) {
    let error: ApiError | undefined
    try {
      const seen = await getInvoice(connection, id, { signal, timeoutMs, deadlineMs: remainingMs() })
      if (seen.updatedAt !== invoice?.updatedAt || seen.status !== invoice.status) void tell(onProgress, seen)
      invoice = seen
      if (isDone(seen)) return seen
    } catch (thrown) {
      // The service may be gone for longer than one call waits.
      error = thrown as ApiError
      if (!error.retryable) throw error
    }
    const askedMs = error?.retryAfterMs ?? 0
    if (remainingMs() < Math.max(askedMs, 20)) {
      const late = new TimeoutError(`The invoice was not there within ${deadlineMs} ms.`, { retryable: true }, error)
      throw Object.assign(late, { invoice })
    }
    // Ever shorter towards the end, so that the deadline is used.
    await bounded(Math.max(askedMs, Math.min(pauseMs * (0.5 + Math.random() / 2), 0.8 * remainingMs())), signal)
  }
}

/**
 * Waits until the status of an invoice is final, and resolves with the invoice: accepted, rejected or failed.
 *
 * **Details**
 *
 * Asks at once, then after a quarter of a second, then less and less often, every five seconds in the end. Failures
 * that may pass are waited out.
 *
 * @throws {TimeoutError} with the `invoice` as it was last seen; waiting may go on later.
 * @throws {AnyGovoiceError} what asking fails with for good, such as an `ApiError` `invoice_not_found`.
 */
export const waitUntilFinal = (connection: Connection, id: string, options?: WaitOptions): Promise<Invoice> =>
  waitUntil(connection, id, isFinal, options)

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
    id,
    (invoice) => invoice.upoAvailable || (isFinal(invoice) && invoice.status !== "accepted"),
    options
  )
  if (invoice.upoAvailable) return invoice
  throw Object.assign(new UpoUnavailableError(`There will be no receipt: the invoice is ${invoice.status}.`), {
    invoice
  })
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
  const { deadlineMs = 600_000 } = options
  const expires = performance.now() + deadlineMs
  const submitted = await submitInvoice(connection, submission, { ...options, deadlineMs })
  void tell(options.onProgress, submitted)
  const { id, idempotencyKey } = submitted
  try {
    const rest = { ...options, deadlineMs: expires - performance.now() }
    return { ...(await waitUntil(connection, id, isFinal, rest, submitted)), idempotencyKey }
  } catch (error) {
    throw Object.assign(error as GovoiceError, { idempotencyKey })
  }
}
