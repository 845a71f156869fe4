/** The documents of a batch: which of those that wait, and their archive. */
import type { Ids } from "@govoice/core"
import { TarGz } from "@govoice/ksef/crypto"
import { Array as Arr, Effect, Stream } from "effect"
import * as LaneRules from "../LaneRules.ts"
import type { WaitingInvoice } from "./laneRows.ts"
import type { LaneStore } from "./LaneStore.ts"
import * as SessionInvoiceList from "./SessionInvoiceList.ts"

/** The oldest that fit into one batch, or into a smaller one after a refusal. */
export const fitting = (invoices: ReadonlyArray<WaitingInvoice>): ReadonlyArray<WaitingInvoice> => {
  const chosen: Array<WaitingInvoice> = []
  let bytes = 0
  const limits = invoices.map(({ batch_limit: limit }) => limit ?? LaneRules.batch.maxDocuments)
  const maxDocuments = Math.min(LaneRules.batch.maxDocuments, ...limits)
  for (const invoice of invoices) {
    bytes += invoice.bytes
    if (chosen.length === maxDocuments || (chosen.length > 0 && bytes > LaneRules.batch.maxBytes)) break
    chosen.push(invoice)
  }
  return chosen
}

/** Documents are read so many at a time while the archive is written, because a batch has up to 32 MiB of them. */
const documentsAtOnce = 50

/** Writes the archive of the documents of these invoices. */
export const archiveOf = (store: LaneStore["Service"], ids: ReadonlyArray<Ids.InvoiceId>) => {
  const documents = Stream.fromIterable(Arr.chunksOf(ids, documentsAtOnce)).pipe(
    Stream.mapEffect(store.documents),
    Stream.flatMap(Stream.fromIterable),
    Stream.map((document) => ({ name: SessionInvoiceList.fileName(document), bytes: Buffer.from(document.xml) }))
  )
  return Effect.map(Stream.runCollect(TarGz.pack(documents)), (chunks) => Buffer.concat(chunks))
}
