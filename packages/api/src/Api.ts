/**
 * The complete contract, from which servers, documents and clients are derived.
 *
 * @since 0.1.0
 */
import { InvoiceEvent } from "@govoice/core"
import * as HttpApi from "effect/http-api/HttpApi"
import * as OpenApi from "effect/http-api/OpenApi"
import { AccountsApi } from "./AccountsApi.ts"
import { ApiKeysApi } from "./ApiKeysApi.ts"
import * as Document from "./Document.ts"
import { InvoicesApi } from "./InvoicesApi.ts"
import { MeApi } from "./MeApi.ts"
import { OrganizationsApi } from "./OrganizationsApi.ts"
import * as Problems from "./Problems.ts"
import { WebhookEndpointsApi } from "./WebhookEndpointsApi.ts"

// Unknown members of bodies and queries are errors.
const strict = { onExcessProperty: "error" } as const

/**
 * The API, version 1.
 *
 * @category models
 * @since 0.1.0
 */
export class Api extends HttpApi.make("govoice")
  .add(InvoicesApi, MeApi, AccountsApi, OrganizationsApi, ApiKeysApi, WebhookEndpointsApi)
  .annotate(HttpApi.PayloadParseOptions, strict)
  .annotate(HttpApi.QueryParseOptions, strict)
  .annotate(HttpApi.AdditionalSchemas, [
    Problems.AnyProblem,
    ...Problems.schemas(...Document.anywhere),
    InvoiceEvent.InvoiceEvent
  ])
  .annotateMerge(
    OpenApi.annotations({
      title: "Govoice API",
      version: "1",
      transform: Document.transform
    })
  ) {}
