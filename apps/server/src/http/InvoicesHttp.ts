/**
 * Serves the developer API for invoices.
 *
 * @since 0.1.0
 */
import { Api, DeveloperAuthorization, Problems, SubmissionHeaders } from "@govoice/api"
import { Metadata } from "@govoice/core"
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Wakeups } from "../engine/Wakeups.ts"
import { LiveMode } from "../gateway/LiveMode.ts"
import { Invoices } from "../store/Invoices.ts"
import * as InvoiceDocument from "../xml/InvoiceDocument.ts"
import * as Receipt from "./Receipt.ts"

const invoiceNotFound = () => Problems.fail("invoice_not_found")

/**
 * Layer that implements the `invoices` group.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = HttpApiBuilder.group(
  Api,
  "invoices",
  Effect.fnUntraced(function* (handlers) {
    const invoices = yield* Invoices
    const liveMode = yield* LiveMode
    const wakeups = yield* Wakeups

    return handlers.handleAll({
      submit: Effect.fnUntraced(function* ({ payload }) {
        const { mode, organizationId } = yield* DeveloperAuthorization.CurrentApiKey
        const { idempotencyKey, scenario } = yield* SubmissionHeaders.CurrentSubmission
        const { invoice_xml: invoiceXml } = payload
        const metadata = payload.metadata ?? {}

        const wrongDocument = InvoiceDocument.fault(invoiceXml)
        if (wrongDocument !== undefined) {
          return yield* Problems.fail("invalid_invoice_xml", { message: wrongDocument })
        }
        const wrongMetadata = Metadata.fault(metadata)
        if (wrongMetadata !== undefined) return yield* Problems.fail("invalid_metadata", { message: wrongMetadata })
        if (mode === "live" && !(yield* liveMode.isAvailableTo(organizationId))) {
          return yield* Problems.fail("live_mode_unavailable")
        }

        const { body, invoiceId, replayed } = yield* invoices
          .submit({ organizationId, mode, idempotencyKey, invoiceXml, metadata, scenario })
          .pipe(
            Effect.catchTags({
              IdempotencyConflict: () => Problems.fail("idempotency_conflict"),
              NoGateway: () => Problems.fail("live_mode_unavailable")
            })
          )
        if (!replayed) {
          yield* wakeups.wake("invoices")
          yield* wakeups.wake("deliveries")
        }

        // The stored text itself, so that every answer to this submission is the same.
        return HttpServerResponse.text(body, {
          status: 201,
          contentType: "application/json",
          headers: {
            location: `/v1/invoices/${invoiceId}`,
            ...(replayed ? { "idempotent-replayed": "true" } : {})
          }
        })
      }),

      get: Effect.fnUntraced(function* ({ params }) {
        const { mode, organizationId } = yield* DeveloperAuthorization.CurrentApiKey
        const invoice = yield* invoices
          .find({ organizationId, mode }, params.id)
          .pipe(Effect.catchTag("InvoiceNotFound", invoiceNotFound))
        // Written as it is: the record has the shape of the wire already, and this is what integrations ask all day long.
        return HttpServerResponse.text(JSON.stringify(invoice), { contentType: "application/json" })
      }),

      upo: Effect.fnUntraced(function* ({ params, request }) {
        const { mode, organizationId } = yield* DeveloperAuthorization.CurrentApiKey
        const receipt = yield* invoices.receipt({ organizationId, mode }, params.id).pipe(
          Effect.catchTags({
            InvoiceNotFound: invoiceNotFound,
            ReceiptNotAvailable: () => Problems.fail("upo_not_available")
          })
        )
        return Receipt.respond(params.id, receipt, request.headers["if-none-match"])
      })
    })
  })
)
