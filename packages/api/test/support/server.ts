/**
 * The API in memory: the declarations, and handlers that record their arguments and return the examples of the
 * document.
 */
import { Effect, Layer, Redacted } from "effect"
import { HttpRouter, HttpServer, HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder, HttpApiSchema } from "effect/http-api"
import {
  AccountAuthorization,
  Api,
  DeveloperAuthorization,
  Problems,
  SubmissionHeaders,
  Validation
} from "@govoice/api"
import * as Examples from "../../src/internal/document/examples.ts"

export const keys = { test: "sk_test_of_the_tests", live: "sk_live_of_the_tests", token: "token-of-the-tests" } as const

const organizationId = "org_01m7q5cqg0e6786ptds43fm4k3"
const keyId = "key_01m7q5cqg0e6786ptds43fm4k3"
const accountId = "acct_01m7q5cqg0e6786ptds43fm4k3"

const Developers = Layer.succeed(DeveloperAuthorization.DeveloperAuthorization)({
  apiKey: (effect, { credential }) => {
    const key = Redacted.value(credential)
    const mode = key === keys.test ? "test" : key === keys.live ? "live" : undefined
    return mode === undefined
      ? Problems.fail("missing_api_key")
      : Effect.provideService(effect, DeveloperAuthorization.CurrentApiKey, {
          id: keyId,
          accountId,
          organizationId,
          mode
        })
  }
})

const Owners = Layer.succeed(AccountAuthorization.AccountAuthorization)({
  accessToken: (effect, { credential }) =>
    Redacted.value(credential) === keys.token
      ? Effect.provideService(effect, AccountAuthorization.CurrentAccount, accountId)
      : Problems.fail("missing_access_token")
})

// Test bodies are small.
const Bodies = Layer.succeed(Validation.BodyReading)((effect) => effect)

/** Middleware that a test may replace. */
export type Middleware = Layer.Layer<
  SubmissionHeaders.SubmissionHeaders | Validation.MetadataFilter | Validation.ParameterValidation
>

const passThrough: Middleware = Layer.mergeAll(
  Layer.succeed(Validation.MetadataFilter)((effect) => effect),
  Layer.succeed(Validation.ParameterValidation)((effect) => effect),
  Layer.succeed(SubmissionHeaders.SubmissionHeaders)((effect) =>
    Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers }) =>
      Effect.provideService(effect, SubmissionHeaders.CurrentSubmission, {
        idempotencyKey: headers["idempotency-key"] ?? "",
        scenario: null,
        checks: undefined
      })
    )
  )
)

const { operations: examples } = Examples

/** The arguments of a handler. */
export interface Call {
  readonly operation: string
  readonly payload?: unknown
  readonly query?: unknown
  readonly submission?: {
    readonly idempotencyKey: string
    readonly scenario: string | null
    readonly checks?: "schema" | undefined
  }
}

/** Starts the API. `wrong` replaces the response of a handler, by operation. */
export const makeServer = (wrong: Readonly<Record<string, unknown>> = {}, middleware: Middleware = passThrough) => {
  const calls: Array<Call> = []
  const note = <A>(
    operation: string,
    request: { readonly endpoint: unknown; readonly payload?: unknown; readonly query?: unknown },
    result: A
  ) =>
    Effect.sync(() => {
      calls.push({ operation, payload: request.payload, query: request.query })
      return operation in wrong ? (wrong[operation] as A) : result
    })

  const file = ({ headers }: { readonly headers: { readonly "if-none-match"?: string } }) =>
    Effect.succeed(
      headers["if-none-match"] === '"1"'
        ? undefined
        : HttpApiSchema.withHeaders({
            body: new TextEncoder().encode("<Potwierdzenie/>"),
            headers: { etag: '"1"', "content-disposition": 'attachment; filename="upo.xml"' }
          })
    )

  const image = () => Effect.succeed(HttpServerResponse.uint8Array(new Uint8Array()))

  const Me = HttpApiBuilder.group(Api, "me", (handlers) =>
    handlers.handle("get", (request) => note("me.get", request, examples["me.get"].response))
  )

  const Invoices = HttpApiBuilder.group(Api, "invoices", (handlers) =>
    handlers
      .handle(
        "submit",
        Effect.fnUntraced(function* ({ payload }) {
          const submission = yield* SubmissionHeaders.CurrentSubmission
          calls.push({ operation: "invoices.submit", payload, submission })
          const right = examples["invoices.submit"].response
          const body = (wrong["invoices.submit"] as typeof right | undefined) ?? right
          return HttpApiSchema.withHeaders({ body, headers: { location: `/v1/invoices/${body.id}` } })
        })
      )
      .handle("list", (request) => note("invoices.list", request, page([examples["invoices.get"].response])))
      .handle("get", (request) => note("invoices.get", request, examples["invoices.get"].response))
      .handle("upo", file)
      .handle("document", file)
      .handle("pdf", image)
      .handle("qr", image)
  )

  const Accounts = HttpApiBuilder.group(Api, "accounts", (handlers) =>
    handlers.handleAll({
      create: (request) => note("accounts.create", request, examples["accounts.create"].response),
      login: (request) => note("accounts.login", request, examples["accounts.login"].response),
      refresh: (request) => note("accounts.refresh", request, examples["accounts.refresh"].response),
      logout: (request) => note("accounts.logout", request, undefined),
      logoutAll: (request) => note("accounts.logoutAll", request, undefined),
      changePassword: (request) => note("accounts.changePassword", request, undefined),
      get: (request) => note("accounts.get", request, examples["accounts.get"].response)
    })
  )

  const Organizations = HttpApiBuilder.group(Api, "organizations", (handlers) => {
    const organization = examples["organizations.get"].response
    return handlers.handleAll({
      create: (request) => note("organizations.create", request, organization),
      update: (request) => note("organizations.update", request, organization),
      putGatewayCredential: (request) => note("organizations.putGatewayCredential", request, undefined),
      list: (request) => note("organizations.list", request, page([organization])),
      get: (request) => note("organizations.get", request, organization),
      getGatewayCredential: (request) =>
        note("organizations.getGatewayCredential", request, examples["organizations.getGatewayCredential"].response),
      getInvoice: (request) => note("organizations.getInvoice", request, examples["organizations.getInvoice"].response),
      getInvoiceUpo: file,
      getInvoiceDocument: file,
      getInvoicePdf: image,
      getInvoiceQr: image,
      getLiveStatus: (request) =>
        note("organizations.getLiveStatus", request, examples["organizations.getLiveStatus"].response),
      getOverview: (request) =>
        note("organizations.getOverview", request, examples["organizations.getOverview"].response),
      putOfflineCertificate: (request) => note("organizations.putOfflineCertificate", request, undefined),
      getOfflineCertificate: (request) =>
        note("organizations.getOfflineCertificate", request, examples["organizations.getOfflineCertificate"].response),
      deleteOfflineCertificate: (request) => note("organizations.deleteOfflineCertificate", request, undefined),
      deleteGatewayCredential: (request) => note("organizations.deleteGatewayCredential", request, undefined),
      listInvoices: (request) => note("organizations.listInvoices", request, page([examples["invoices.get"].response]))
    })
  })

  const ApiKeys = HttpApiBuilder.group(Api, "apiKeys", (handlers) => {
    const created = examples["apiKeys.create"].response
    return handlers.handleAll({
      create: (request) => note("apiKeys.create", request, created),
      list: (request) => note("apiKeys.list", request, page([created])),
      revoke: (request) => note("apiKeys.revoke", request, undefined)
    })
  })

  const WebhookEndpoints = HttpApiBuilder.group(Api, "webhookEndpoints", (handlers) => {
    const created = examples["webhookEndpoints.create"].response
    const rotated = examples["webhookEndpoints.rotateSecret"].response
    const deliveries = examples["webhookEndpoints.listDeliveries"].response.data
    return handlers.handleAll({
      create: (request) => note("webhookEndpoints.create", request, created),
      update: (request) => note("webhookEndpoints.update", request, created),
      rotateSecret: (request) => note("webhookEndpoints.rotateSecret", request, rotated),
      list: (request) => note("webhookEndpoints.list", request, page([created])),
      get: (request) => note("webhookEndpoints.get", request, created),
      delete: (request) => note("webhookEndpoints.delete", request, undefined),
      getDeliveryStats: (request) =>
        note("webhookEndpoints.getDeliveryStats", request, examples["webhookEndpoints.getDeliveryStats"].response),
      getDelivery: (request) =>
        note("webhookEndpoints.getDelivery", request, examples["webhookEndpoints.getDelivery"].response),
      listAllDeliveries: (request) => note("webhookEndpoints.listAllDeliveries", request, page(deliveries)),
      listDeliveries: (request) => note("webhookEndpoints.listDeliveries", request, page(deliveries))
    })
  })

  const server = HttpApiBuilder.layer(Api, { openapiPath: "/openapi.json" }).pipe(
    Layer.provide([Me, Invoices, Accounts, Organizations, ApiKeys, WebhookEndpoints]),
    Layer.provide([Developers, Owners, Bodies, middleware, HttpServer.layerServices])
  )
  const { dispose, handler } = HttpRouter.toWebHandler(server, { disableLogger: true })

  return { calls, dispose, fetch: (request: Request): Promise<Response> => handler(request) }
}

const page = <A>(data: ReadonlyArray<A>) => ({ object: "list" as const, data, has_more: false, next_cursor: null })

/** A response with its body. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly json: unknown
}

/** Returns the members of the error envelope, if there is one. */
export const errorOf = ({ json }: Answer): Partial<Problems.Problem["error"]> =>
  (json as { readonly error?: Problems.Problem["error"] } | undefined)?.error ?? {}

export const sendTo =
  (server: ReturnType<typeof makeServer>) =>
  async (
    method: string,
    path: string,
    options: {
      readonly key?: string
      readonly headers?: Readonly<Record<string, string>>
      readonly body?: unknown
      readonly raw?: string
    } = {}
  ): Promise<Answer> => {
    const key = options.key ?? (path.startsWith("/v1/control-plane") ? keys.token : keys.test)
    const body = options.raw ?? (options.body === undefined ? undefined : JSON.stringify(options.body))
    const response = await server.fetch(
      new Request(`http://localhost${path}`, {
        method,
        headers: {
          authorization: `Bearer ${key}`,
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...options.headers
        },
        ...(body === undefined ? {} : { body })
      })
    )
    const text = await response.text()
    const isJson = response.headers.get("content-type")?.startsWith("application/json") === true
    return { status: response.status, headers: response.headers, text, json: isJson ? JSON.parse(text) : undefined }
  }
