/**
 * Serves the developer API for invoices.
 */
import { Api, DeveloperAuthorization, Problems, SubmissionHeaders } from "@govoice/api"
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import * as RequestContext from "../RequestContext.ts"
import { Cursors } from "../../crypto/Cursors.ts"
import * as Page from "../../database/Page.ts"
import { DocumentChecks } from "../../invoices/checks/DocumentChecks.ts"
import { LiveMode } from "../../invoices/live/LiveMode.ts"
import { Invoices } from "../../invoices/Invoices.ts"
import type { SubmissionFault } from "../../invoices/readSubmission.ts"
import { type InvalidSubmission, SubmissionReader } from "../../invoices/SubmissionReader.ts"
import { SubmitInvoice } from "../../invoices/SubmitInvoice.ts"
import { Notifier } from "../../jobs/Notifier.ts"
import { CurrentDocumentBody } from "../middleware/BodyReading.ts"
import { RateLimits } from "../middleware/RateLimits.ts"
import * as Throttling from "../middleware/Throttling.ts"
import * as Pagination from "./Pagination.ts"
import * as UpoResponse from "./UpoResponse.ts"

// A problem of one of the codes, for the type of the endpoint.
type InvalidSubmissionProblem = {
  readonly [C in SubmissionFault["code"]]: Problems.Problem<C>
}[SubmissionFault["code"]]

const invalidSubmission = ({ fault: { code, ...details } }: InvalidSubmission) =>
  Problems.fail(code, details) as Effect.Effect<never, InvalidSubmissionProblem>

const invoiceNotFound = () => Problems.fail("invoice_not_found")

/** Implements the `invoices` group. */
export const layer = RequestContext.group(
  Api,
  "invoices",
  Effect.fnUntraced(function* (handlers) {
    const cursors = yield* Cursors
    const documentChecks = yield* DocumentChecks
    const invoices = yield* Invoices
    const liveMode = yield* LiveMode
    const notifier = yield* Notifier
    const rateLimits = yield* RateLimits
    const submissionReader = yield* SubmissionReader
    const submitInvoice = yield* SubmitInvoice

    return (
      handlers
        .handleAll({
          get: Effect.fnUntraced(function* ({ params }) {
            const { mode, organizationId } = yield* DeveloperAuthorization.CurrentApiKey
            const invoice = yield* invoices
              .find({ organizationId, mode }, params.id)
              .pipe(Effect.catchTag("InvoiceNotFound", invoiceNotFound))
            // Not encoded by the schema: the record has the shape of the response, and this is the most frequent request.
            return HttpServerResponse.text(JSON.stringify(invoice), { contentType: "application/json" })
          }),

          list: Effect.fnUntraced(function* ({ query }) {
            const { mode, organizationId } = yield* DeveloperAuthorization.CurrentApiKey
            const { created_after, created_before, metadata, status } = query
            const wanted = metadata && JSON.stringify(metadata)
            const name = ["keyInvoices", organizationId, mode, status, created_after, created_before, wanted]
            return yield* Pagination.serve(cursors, name, query, (page) =>
              invoices.list(
                organizationId,
                { mode, status, metadata },
                Page.within(page, "inv", Pagination.timeOf(query))
              )
            )
          }),

          upo: Effect.fnUntraced(function* ({ params, request }) {
            const { mode, organizationId } = yield* DeveloperAuthorization.CurrentApiKey
            const receipt = yield* invoices.receipt({ organizationId, mode }, params.id).pipe(
              Effect.catchTags({
                InvoiceNotFound: invoiceNotFound,
                ReceiptNotAvailable: () => Problems.fail("upo_not_available")
              })
            )
            return UpoResponse.respond(params.id, receipt, request.headers["if-none-match"])
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
            const submission = yield* submissionReader.read(organizationId, body, context).pipe(
              Effect.catchTags({
                InvalidSubmission: invalidSubmission,
                SubmissionNotRead: () => Problems.fail("service_unavailable"),
                Throttled: Throttling.fail
              })
            )
            if (mode === "live" && !(yield* liveMode.isAvailableTo(organizationId))) {
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
            const storing = isChecked
              ? documentChecks.check(organizationId, mode, submission.invoiceXml).pipe(
                  Effect.as(undefined),
                  Effect.catchTags({
                    InvalidDocument: ({ message }) => earlierOr(Problems.fail("invalid_invoice_xml", { message })),
                    Throttled: (fault) => earlierOr(Throttling.fail(fault))
                  }),
                  Effect.flatMap((earlier) =>
                    earlier === undefined ? submitInvoice.submit(keyed) : Effect.succeed(earlier)
                  )
                )
              : submitInvoice.submit(keyed)
            const submitted = yield* storing.pipe(
              Effect.catchTags({
                IdempotencyConflict: () => Problems.fail("idempotency_conflict"),
                GatewayNotConfigured: () => Problems.fail("live_mode_unavailable")
              })
            )
            if (!submitted.replayed) {
              yield* notifier.wake(mode === "live" ? "lanes" : "invoices")
              yield* notifier.wake("deliveries", [organizationId])
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
