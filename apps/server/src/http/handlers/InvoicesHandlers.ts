/**
 * Serves the developer API for invoices.
 */
import { Api, DeveloperAuthorization, Problems, SubmissionHeaders } from "@govoice/api"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { HttpServerResponse } from "effect/http"
import { Cursors } from "../../crypto/Cursors.ts"
import * as Page from "../../database/Page.ts"
import { DocumentChecks } from "../../invoices/checks/DocumentChecks.ts"
import { GatewayCredentials } from "../../invoices/ksef/GatewayCredentials.ts"
import * as CertificateUrl from "../../invoices/CertificateUrl.ts"
import { Invoices } from "../../invoices/Invoices.ts"
import * as InvoiceWarnings from "../../invoices/InvoiceWarnings.ts"
import type { SubmissionFault } from "../../invoices/readSubmission.ts"
import { type InvalidSubmission, SubmissionReader } from "../../invoices/SubmissionReader.ts"
import { SubmitInvoice } from "../../invoices/SubmitInvoice.ts"
import * as TechnicalCorrection from "../../invoices/TechnicalCorrection.ts"
import { Notifier } from "../../jobs/Notifier.ts"
import { CurrentDocumentBody } from "../middleware/BodyReading.ts"
import { RateLimits } from "../middleware/RateLimits.ts"
import * as Throttling from "../middleware/Throttling.ts"
import * as InvoiceFilters from "./InvoiceFilters.ts"
import * as InvoicePages from "./InvoicePages.ts"
import * as InvoiceReads from "./InvoiceReads.ts"
import * as Pagination from "./Pagination.ts"

// A problem of one of the codes, for the type of the endpoint.
type InvalidSubmissionProblem = {
  readonly [C in SubmissionFault["code"]]: Problems.Problem<C>
}[SubmissionFault["code"]]

const invalidSubmission = ({ fault: { code, ...details } }: InvalidSubmission) =>
  Problems.fail(code, details) as Effect.Effect<never, InvalidSubmissionProblem>

/** Implements the `invoices` group. */
export const layer = HttpApiBuilder.group(
  Api,
  "invoices",
  Effect.fnUntraced(function* (handlers) {
    const certificateUrlOf = yield* CertificateUrl.make
    const checkCorrection = yield* TechnicalCorrection.makeCheck
    const cursors = yield* Cursors
    const documentChecks = yield* DocumentChecks
    const invoices = yield* Invoices
    const credentials = yield* GatewayCredentials
    const notifier = yield* Notifier
    const rateLimits = yield* RateLimits
    const reads = yield* InvoiceReads.make(() => Problems.fail("invoice_not_found"))
    const submissionReader = yield* SubmissionReader
    const submitInvoice = yield* SubmitInvoice

    return (
      handlers
        .handleAll({
          get: Effect.fnUntraced(function* ({ params }) {
            const invoice = yield* reads.find(yield* DeveloperAuthorization.CurrentApiKey, params.id)
            // Not encoded by the schema: the record has the shape of the response, and this is the most frequent request.
            return HttpServerResponse.text(JSON.stringify(invoice), { contentType: "application/json" })
          }),

          list: Effect.fnUntraced(function* ({ query }) {
            const key = yield* DeveloperAuthorization.CurrentApiKey
            const { mode, organizationId } = key
            const { created_after, created_before, order, status } = query
            const isSettled = order === "asc" || created_after !== undefined
            const filters = [status, created_after, created_before, ...InvoiceFilters.nameOf(query)]
            return yield* InvoicePages.answer(key, invoices.settledTime, (settledTime) =>
              Pagination.serve(cursors, ["keyInvoices", organizationId, mode, ...filters], query, (page) =>
                invoices.list(
                  organizationId,
                  { mode, status, isSettled, settledTime, ...InvoiceFilters.read(query) },
                  Page.within(page, "inv", Pagination.timeOf(query))
                )
              )
            )
          }),

          upo: Effect.fnUntraced(function* ({ params, request }) {
            return yield* reads.upo(yield* DeveloperAuthorization.CurrentApiKey, params.id, request)
          }),

          document: Effect.fnUntraced(function* ({ params, request }) {
            return yield* reads.document(yield* DeveloperAuthorization.CurrentApiKey, params.id, request)
          }),

          pdf: Effect.fnUntraced(function* ({ params, request }) {
            return yield* reads.pdf(yield* DeveloperAuthorization.CurrentApiKey, params.id, request)
          }),

          qr: Effect.fnUntraced(function* ({ params, query, request }) {
            return yield* reads.qr(yield* DeveloperAuthorization.CurrentApiKey, params.id, query, request)
          })
        })
        // Raw, because `SubmissionReader` decodes the body, off the event loop if that takes long.
        .handleRaw(
          "submit",
          Effect.fnUntraced(function* ({ request }) {
            const key = yield* DeveloperAuthorization.CurrentApiKey
            const { mode, organizationId } = key
            const { checks, idempotencyKey, scenario } = yield* SubmissionHeaders.CurrentSubmission
            const context = { mode, scenario }

            const body = yield* CurrentDocumentBody
            if (request.headers["transfer-encoding"] !== undefined) {
              yield* rateLimits.takeUnannounced(key, body.byteLength)
            }
            const submission = yield* submissionReader.read(key, body, context).pipe(
              Effect.catchTags({
                InvalidSubmission: invalidSubmission,
                SubmissionNotRead: () => Throttling.failWithoutTurn
              })
            )
            if (mode === "live" && !(yield* credentials.isLiveModeAvailable(organizationId))) {
              return yield* Problems.fail("live_mode_unavailable")
            }
            const keyed = { organizationId, idempotencyKey, ...context, ...submission }
            const isChecked = mode === "live" ? documentChecks.appliesToLive : checks === "schema"
            // A submission that was accepted is answered as before: today's rules may refuse its document. Looking for it
            // first would cost every new submission a round trip.
            const earlierOr = <E, R>(refusal: Effect.Effect<never, E, R>) =>
              Effect.flatMap(submitInvoice.findEarlier(keyed), (earlier) =>
                earlier === undefined ? refusal : Effect.succeed(earlier)
              )
            const storing = Effect.gen(function* () {
              yield* checkCorrection(keyed)
              const found = isChecked ? yield* documentChecks.check(key, mode, submission.invoiceXml) : []
              const warnings = InvoiceWarnings.ofDocument(found, submission.invoicingMode)
              return yield* submitInvoice.submit({ ...keyed, certificateUrl: yield* certificateUrlOf(keyed), warnings })
            })
            const submitted = yield* storing.pipe(
              Effect.catchTags({
                InvalidDocument: ({ message }) => earlierOr(Problems.fail("invalid_invoice_xml", { message })),
                DocumentNotChecked: () => earlierOr(Throttling.failWithoutTurn),
                InvalidCorrection: ({ message }) =>
                  earlierOr(Problems.fail("invalid_parameter", { message, param: "corrects_invoice_id" })),
                OfflineNotAvailable: () => earlierOr(Problems.fail("offline_not_available"))
              }),
              Effect.catchTags({
                IdempotencyConflict: () => Problems.fail("idempotency_conflict"),
                GatewayNotConfigured: () => Problems.fail("live_mode_unavailable")
              })
            )
            if (!submitted.replayed) {
              yield* notifier.wake(mode === "live" ? "lanes" : "invoices")
              yield* notifier.wake("deliveries")
            }

            // The stored text, so that every response to this submission is the same.
            return HttpServerResponse.text(submitted.body, {
              status: 201,
              contentType: "application/json",
              headers: {
                location: `/v1/invoices/${submitted.invoiceId}`,
                ...(submitted.replayed ? { "idempotent-replayed": "true" } : {})
              }
            })
          })
        )
    )
  })
)
