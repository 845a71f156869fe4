/**
 * Waits for an invoice by polling.
 *
 * @module
 * @since 0.1.0
 */
import type { Connection } from "./connection.ts"
import { type ApiError, type GovoiceError, UpoUnavailableError } from "./error.ts"
import type { PlatformSignal } from "./fetch.ts"
import { checkOptions } from "./internal/checkOptions.ts"
import { callHook } from "./internal/callHook.ts"
import { withTimeout } from "./internal/withTimeout.ts"
import {
  getInvoice,
  type InvoiceSubmission,
  submitInvoice,
  type SubmitOptions,
  type SubmittedInvoice
} from "./invoices.ts"
import type { CallOptions } from "./options.ts"
import type { Invoice } from "./records.ts"

declare const crypto: { randomUUID(): string }

/**
 * The options of a wait.
 *
 * @category models
 * @since 0.1.0
 */
export interface WaitOptions extends CallOptions {
  /**
   * The maximum time to wait, in milliseconds.
   *
   * @default 600_000
   */
  readonly deadlineMs?: number | undefined

  /** Called with the invoice after the first poll and after each change. Its errors are ignored. */
  readonly onProgress?: ((invoice: Invoice) => unknown) | undefined
}

const waitOptions = "onProgress signal timeoutMs deadlineMs"

const isFinal = ({ completedAt, status }: Invoice) => completedAt ?? /^(accepted|rejected|failed)$/.test(status)

const hasUpo = (invoice: Invoice) => {
  const { status, upoAvailable } = invoice
  if (!upoAvailable && isFinal(invoice) && status !== "accepted") {
    throw new UpoUnavailableError(`There will be no receipt (UPO): the invoice is ${status}.`)
  }
  return upoAvailable
}

const waitUntil = (
  isDone: (invoice: Invoice) => unknown,
  connection: Connection,
  firstCall: (options: CallOptions) => Promise<Invoice>,
  { deadlineMs = 600_000, idempotencyKey, onProgress, signal, timeoutMs }: SubmitAndWaitOptions
): Promise<Invoice> => {
  const maxDelayMs = 5000
  let invoice: Invoice | undefined
  const poll = async (signal: PlatformSignal) => {
    for (let polls = 1; ; polls++) {
      let retryAfterMs: number | undefined
      try {
        const current = await (invoice
          ? getInvoice(connection, invoice.id, { signal, timeoutMs })
          : firstCall({ signal, timeoutMs }))
        if (current.updatedAt !== invoice?.updatedAt) void callHook(onProgress, current)
        invoice = current
        if (isDone(current)) return current
      } catch (error) {
        // An outage may last longer than the retries of one call, and so may many calls with the same key.
        retryAfterMs = (error as ApiError).retryAfterMs
        if (!(error as ApiError).retryable || !(invoice || retryAfterMs! < deadlineMs)) throw error
      }
      await withTimeout((retryAfterMs ?? 0) + Math.random() * Math.min(maxDelayMs, 250 * 2 ** polls), signal)
    }
  }
  const stillWaiting = (ms: number) => {
    const state = !invoice
      ? "is still without an answer"
      : isFinal(invoice)
        ? "still has no receipt (UPO)"
        : `is still ${invoice.status}`
    return `The invoice ${state} after ${ms} ms. Call again${idempotencyKey ? " with this idempotencyKey" : ""} to continue.`
  }
  return withTimeout(deadlineMs, signal, poll, stillWaiting).catch((error: GovoiceError) => {
    throw Object.assign(error, { invoice, idempotencyKey })
  })
}

/**
 * Waits until the status of an invoice is final. Resolves with the invoice: accepted, rejected or failed.
 *
 * **Details**
 *
 * Polls with increasing delays, from at most half a second to at most five seconds. After the first successful poll,
 * retryable errors do not end the wait. Before it, those with a `Retry-After` shorter than `deadlineMs` do not.
 *
 * @throws {TimeoutError} with the last known `invoice`. The call can be made again.
 * @throws {AnyGovoiceError} such as an `ApiError` with code `invoice_not_found`.
 * @category developer API
 * @since 0.1.0
 */
export const waitUntilFinal = async (connection: Connection, id: string, options?: WaitOptions): Promise<Invoice> =>
  waitUntil(isFinal, connection, (limits) => getInvoice(connection, id, limits), checkOptions(options, waitOptions))

/**
 * Waits until the official receipt (UPO) of an invoice can be downloaded. Resolves with the invoice.
 *
 * @throws {UpoUnavailableError} with the `invoice` if it is rejected or failed.
 * @throws {TimeoutError} with the last known `invoice`. The call can be made again.
 * @throws {AnyGovoiceError} such as an `ApiError` with code `invoice_not_found`.
 * @category developer API
 * @since 0.1.0
 */
export const waitForUpo = async (connection: Connection, id: string, options?: WaitOptions): Promise<Invoice> =>
  waitUntil(hasUpo, connection, (limits) => getInvoice(connection, id, limits), checkOptions(options, waitOptions))

/**
 * The options of {@link submitAndWait}.
 *
 * @category models
 * @since 0.1.0
 */
export interface SubmitAndWaitOptions extends SubmitOptions, WaitOptions {
  /**
   * The maximum time for submitting and waiting together, in milliseconds.
   *
   * @default 600_000
   */
  readonly deadlineMs?: number | undefined
}

/**
 * Submits an invoice and waits until its status is final. Resolves with the invoice: accepted, rejected or failed.
 *
 * @throws {AnyGovoiceError} the errors of `submitInvoice` and `waitUntilFinal`, with the `idempotencyKey`. The same call with
 * this key continues.
 * @category developer API
 * @since 0.1.0
 */
export const submitAndWait = async (
  connection: Connection,
  submission: InvoiceSubmission | string,
  options: SubmitAndWaitOptions = {}
): Promise<SubmittedInvoice> => {
  const { idempotencyKey = crypto.randomUUID() } = checkOptions(options, `idempotencyKey ${waitOptions}`)
  const invoice = await waitUntil(
    isFinal,
    connection,
    (limits) => submitInvoice(connection, submission, { ...limits, idempotencyKey }),
    { ...options, idempotencyKey }
  )
  return { ...invoice, idempotencyKey }
}
