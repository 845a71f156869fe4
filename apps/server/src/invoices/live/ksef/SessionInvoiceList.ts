/** Reads the list of the invoices of a session, page by page. */
import { Effect } from "effect"
import type { CallFailed } from "./CallFailure.ts"
import { authorized, type LaneContext } from "./LaneContext.ts"
import type { LoginError } from "./Logins.ts"
import type { SubmissionRow } from "./laneRows.ts"
import type { InvoiceStatus } from "./StatusRules.ts"

/** The documents of a session by reference, and by hash. */
export interface SessionInvoiceList {
  readonly byReference: ReadonlyMap<string, InvoiceStatus>
  readonly byHash: ReadonlyMap<string, InvoiceStatus>
}

const maxRestarts = 3

const isAccepted = {
  yes: ({ status }: InvoiceStatus) => status.code === 200,
  not: ({ status }: InvoiceStatus) => status.code !== 200
}

/** Reads the whole list. A page token that is not accepted has it read from the beginning. */
export const read = (
  context: LaneContext,
  organizationId: string,
  session: string
): Effect.Effect<SessionInvoiceList, LoginError> => {
  const readFrom = (
    restarts: number,
    continuationToken: string | undefined,
    before: ReadonlyArray<InvoiceStatus>
  ): Effect.Effect<ReadonlyArray<InvoiceStatus>, LoginError> =>
    authorized(context, organizationId, "sessionInvoices", (accessToken) =>
      context.system.client.sessionInvoices({ accessToken, session, continuationToken })
    ).pipe(
      Effect.flatMap((page) => {
        const all = [...before, ...page.invoices]
        const next = page.continuationToken ?? undefined
        return next === undefined ? Effect.succeed(all) : readFrom(restarts, next, all)
      }),
      Effect.catchTag("CallFailed", (error: CallFailed) =>
        error.failure._tag === "code" && error.failure.action === "first-page" && restarts < maxRestarts
          ? readFrom(restarts + 1, undefined, [])
          : Effect.fail(error)
      )
    )
  return Effect.map(readFrom(0, undefined, []), (invoices) => ({
    byReference: new Map(invoices.map((invoice) => [invoice.referenceNumber, invoice])),
    // Of several copies, the accepted one counts.
    byHash: new Map(
      [...invoices.filter(isAccepted.not), ...invoices.filter(isAccepted.yes)].map((invoice) => [
        invoice.invoiceHash,
        invoice
      ])
    )
  }))
}

/** Finds a document in the list of its session. */
export const find = (list: SessionInvoiceList, row: SubmissionRow): InvoiceStatus | undefined =>
  (row.submission_reference === null ? undefined : list.byReference.get(row.submission_reference)) ??
  list.byHash.get(Buffer.from(row.sha256).toString("base64"))
