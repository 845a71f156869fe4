/**
 * Draws invoices as PDFs, in threads: a long one takes seconds.
 */
import type { Invoice } from "@govoice/core"
import { Context, Data, Effect, Layer } from "effect"
import * as ThreadPool from "../../jobs/ThreadPool.ts"
import { type Owner, turnMs } from "../../limits/Slots.ts"
import { codesOf } from "../qr/InvoiceCodes.ts"
import type { Drawn, Job } from "./drawInvoice.ts"

/** No PDF is made of the invoice: its document is of no form that can be read, or is too long. */
export class PdfNotAvailable extends Data.TaggedError("PdfNotAvailable")<{ readonly reason: "form" | "length" }> {}

/** No thread became free in time, or the thread ended. */
export class PdfNotDrawn extends Data.TaggedError("PdfNotDrawn") {}

/** Draws PDFs. */
export class InvoicePdfs extends Context.Service<
  InvoicePdfs,
  {
    /** Returns the PDF of an invoice and its document. The same invoice is the same file. */
    readonly draw: (
      owner: Owner,
      invoice: Invoice.Invoice,
      xml: Uint8Array
    ) => Effect.Effect<Uint8Array, PdfNotAvailable | PdfNotDrawn>
  }
>()("@govoice/server/invoices/pdf/InvoicePdfs") {}

const entry = new URL(`./pdfThread.${import.meta.url.endsWith(".ts") ? "ts" : "js"}`, import.meta.url)

// Of the documents that wait, in bytes. One organization waits with no more than a few long ones.
const maxWaiting = 16 * 1024 * 1024

// Drawn in half a second or less.
const maxOrdinaryBytes = 32 * 1024

// The longest that are drawn take a few seconds.
const timeoutMs = 30_000

/** Provides `InvoicePdfs`. */
export const layer: Layer.Layer<InvoicePdfs> = Layer.effect(
  InvoicePdfs,
  Effect.gen(function* () {
    const thread = ThreadPool.make<Job, Drawn>({
      name: "invoicePdfs",
      entry,
      threads: 1,
      maxSize: maxWaiting,
      maxSizePerGroup: maxWaiting / 4,
      // Some 10 µs a letter. However many organizations have a long invoice drawn, a shorter one of another waits for one of them.
      costOfSize: 0.01,
      maxWaitMs: turnMs,
      timeoutMs
    })
    // No ordinary invoice waits for a long one, which takes seconds.
    const ordinary = yield* thread
    const long = yield* thread
    return {
      draw: Effect.fn("InvoicePdfs.draw")(function* (owner, invoice, xml) {
        const job = {
          xml: Buffer.from(xml).toString(),
          officialNumber: invoice.official_number,
          codes: codesOf(invoice),
          createdAt: invoice.created_at
        }
        const drawn = yield* (xml.byteLength <= maxOrdinaryBytes ? ordinary : long)
          .run(owner, job, [], xml.byteLength)
          .pipe(Effect.mapError(() => new PdfNotDrawn()))
        return "pdf" in drawn ? drawn.pdf : yield* new PdfNotAvailable({ reason: drawn.refused })
      })
    }
  })
)
