import { Api, DeveloperAuthorization, Problems } from "@govoice/api"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpApiClient from "effect/http-api/HttpApiClient"
import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"

const withKey = (apiKey: string) =>
  HttpApiMiddleware.layerClient(DeveloperAuthorization.DeveloperAuthorization, ({ next, request }) =>
    next(HttpClientRequest.bearerToken(request, apiKey))
  )

// Submits an invoice and returns its status. The same order submitted again creates nothing.
export const submit = (options: { apiKey: string; baseUrl: string; invoiceXml: string; order: string }) =>
  Effect.gen(function* () {
    const httpClient = yield* HttpClient.HttpClient
    const invoices = yield* HttpApiClient.group(Api, { group: "invoices", httpClient, baseUrl: options.baseUrl })

    const submitted = yield* invoices.submit({
      headers: { "idempotency-key": options.order },
      payload: { invoice_xml: options.invoiceXml, metadata: { order: options.order } }
    })
    const invoice = yield* invoices.get({ params: { id: submitted.body.id } })

    return `${invoice.id} is ${invoice.status}`
  }).pipe(
    // Error responses are in the error channel as envelopes.
    Effect.catch((error) =>
      Problems.is(error) ? Effect.succeed(`${error.error.code}: ${error.error.message}`) : Effect.fail(error)
    ),
    Effect.provide(withKey(options.apiKey))
  )
