/** Reads the list of the invoices of a session, page by page. */
import type { SessionAnswers } from "@govoice/ksef/protocol"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { failureOf } from "./CallFailure.ts"
import { authorized, type LaneContext } from "./LaneContext.ts"
import type { LoginError } from "./Logins.ts"
import type { SubmissionRow } from "./laneRows.ts"
import type { InvoiceStatus } from "./StatusRules.ts"

/** The documents of a session by reference, by the name of their file in a batch, and by hash. */
export interface SessionInvoiceList {
  readonly byReference: ReadonlyMap<string, InvoiceStatus>
  readonly byFileName: ReadonlyMap<string, InvoiceStatus>
  /** The accepted ones first. */
  readonly byHash: ReadonlyMap<string, ReadonlyArray<InvoiceStatus>>
}

/** One page of it, as KSeF returns it. */
export type InvoicePage = typeof SessionAnswers.InvoicePage.Type

/** The name of the file of an invoice in the archive of a batch. */
export const fileName = ({ id }: { readonly id: string }): string => `${id}.xml`

const maxRestarts = 3

// A session has no more documents.
const maxInvoices = 10_000

/**
 * Reads all pages, each by the token of the one before. A token that is not accepted has them read from the beginning. A page with no
 * document that the ones before do not have is the end: pages that repeat would use up the quota of the taxpayer.
 */
export const readPages = (
  readPage: (continuationToken: string | undefined) => Effect.Effect<InvoicePage, LoginError>
): Effect.Effect<ReadonlyArray<InvoiceStatus>, LoginError> => {
  const readFrom = (
    restarts: number,
    continuationToken: string | undefined,
    before: ReadonlyMap<string, InvoiceStatus>
  ): Effect.Effect<ReadonlyArray<InvoiceStatus>, LoginError> =>
    // Of this page alone: later ones begin again by themselves.
    Effect.matchEffect(readPage(continuationToken), {
      onSuccess: (page) => {
        const all = new Map(before)
        for (const invoice of page.invoices) all.set(invoice.referenceNumber, invoice)
        const next = page.continuationToken ?? undefined
        const isEnd = next === undefined || all.size === before.size || all.size >= maxInvoices
        return isEnd ? Effect.succeed([...all.values()]) : readFrom(restarts, next, all)
      },
      onFailure: (error) => {
        const failure = failureOf(error, "sessionInvoices")
        return failure?._tag === "code" && failure.action === "first-page" && restarts < maxRestarts
          ? readFrom(restarts + 1, undefined, new Map())
          : Effect.fail(error)
      }
    })
  return readFrom(0, undefined, new Map())
}

/** Reads the whole list. */
export const read = (
  context: LaneContext,
  organizationId: string,
  session: string
): Effect.Effect<SessionInvoiceList, LoginError> => {
  const all = readPages((continuationToken) =>
    authorized(context, organizationId, "sessionInvoices", (accessToken) =>
      context.system.client.sessionInvoices({ accessToken, session, continuationToken })
    )
  )
  return Effect.map(all, (invoices) => ({
    byReference: new Map(invoices.map((invoice) => [invoice.referenceNumber, invoice])),
    byFileName: new Map(
      invoices.flatMap((invoice) => (invoice.invoiceFileName ? [[invoice.invoiceFileName, invoice] as const] : []))
    ),
    byHash: Map.groupBy(
      invoices.toSorted((left, right) => Number(right.status.code === 200) - Number(left.status.code === 200)),
      ({ invoiceHash }) => invoiceHash
    )
  }))
}

/**
 * Finds the documents of submissions of one session: by reference, by file, or by hash. Two invoices may have the same
 * document, so what belongs to one submission is not found by hash for another.
 */
export const findAll = (
  context: LaneContext,
  list: SessionInvoiceList,
  rows: ReadonlyArray<SubmissionRow>
): Effect.Effect<ReadonlyArray<readonly [SubmissionRow, InvoiceStatus | undefined]>, SqlError.SqlError> =>
  Effect.gen(function* () {
    const exact = rows.map(
      (row) =>
        (row.submission_reference === null ? undefined : list.byReference.get(row.submission_reference)) ??
        list.byFileName.get(fileName(row))
    )
    const isComplete = exact.every((found) => found !== undefined)
    const taken = new Set(isComplete ? [] : yield* context.store.referencesOf(rows[0]!.session_id))
    for (const found of exact) if (found !== undefined) taken.add(found.referenceNumber)
    return rows.map((row, index) => {
      const found =
        exact[index] ??
        list.byHash
          .get(Buffer.from(row.sha256).toString("base64"))
          ?.find(({ referenceNumber }) => !taken.has(referenceNumber))
      if (found !== undefined) taken.add(found.referenceNumber)
      return [row, found] as const
    })
  })
