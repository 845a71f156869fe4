/** The HTTP side of the server: the declared API, the operational paths, and the middleware. */
import { Api } from "@govoice/api"
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import * as LiveStatus from "../invoices/ksef/LiveStatus.ts"
import * as Authenticator from "../accounts/Authenticator.ts"
import * as DocumentChecks from "../invoices/checks/DocumentChecks.ts"
import * as InvoicePdfs from "../invoices/pdf/InvoicePdfs.ts"
import * as SubmissionReader from "../invoices/SubmissionReader.ts"
import * as Login from "../accounts/Login.ts"
import * as LoginThrottle from "../accounts/LoginThrottle.ts"
import * as Passwords from "../accounts/Passwords.ts"
import * as AccountsHttp from "./handlers/AccountsHandlers.ts"
import * as ApiKeysHttp from "./handlers/ApiKeysHandlers.ts"
import * as AddressLimits from "./middleware/AddressLimits.ts"
import * as Authorization from "./middleware/Authorization.ts"
import * as BodyReading from "./middleware/BodyReading.ts"
import * as Console from "./console/Console.ts"
import * as SameOrigin from "./console/SameOrigin.ts"
import * as InvoicesHttp from "./handlers/InvoicesHandlers.ts"
import * as MeHttp from "./handlers/MeHandlers.ts"
import * as NodeServer from "./transport/NodeServer.ts"
import * as Operational from "./handlers/Operational.ts"
import * as OrganizationsHttp from "./handlers/OrganizationsHandlers.ts"
import * as MetadataFilter from "./middleware/MetadataFilter.ts"
import * as RequestLifecycle from "./middleware/RequestLifecycle.ts"
import * as LimitStores from "../limits/LimitStores.ts"
import * as RateLimits from "./middleware/RateLimits.ts"
import * as RequestValidation from "./middleware/RequestValidation.ts"
import * as StatisticsLimits from "./middleware/StatisticsLimits.ts"
import * as SubmissionHeaders from "./middleware/SubmissionHeaders.ts"
import * as WebhookEndpointsHttp from "./handlers/WebhookEndpointsHandlers.ts"

const handlers = Layer.mergeAll(
  AccountsHttp.layer,
  ApiKeysHttp.layer,
  InvoicesHttp.layer,
  MeHttp.layer,
  OrganizationsHttp.layer,
  WebhookEndpointsHttp.layer
)

const middleware = Layer.mergeAll(
  Authorization.layerAccount,
  Authorization.layerDeveloper,
  BodyReading.layer,
  MetadataFilter.layer,
  RequestValidation.layer,
  SameOrigin.layer,
  SubmissionHeaders.layer
)

const limits = Layer.mergeAll(RateLimits.layer, AddressLimits.layer, StatisticsLimits.layer)

const routes = Layer.mergeAll(
  HttpApiBuilder.layer(Api).pipe(Layer.provide(handlers)),
  Operational.layer,
  Console.layer
).pipe(Layer.provide(RequestLifecycle.layer))

// Paths are compared exactly. Only the limit of the headers applies to a segment: an identifier that is too long is unknown.
const routerConfig = {
  caseSensitive: true,
  ignoreDuplicateSlashes: false,
  ignoreTrailingSlash: false,
  maxParamLength: NodeServer.limits.maxHeaderSize
}

/** Layer that serves everything on the HTTP server that it is given. */
export const layer = HttpRouter.toHttpEffect(routes).pipe(
  Effect.provideService(HttpRouter.RouterConfig, routerConfig),
  Effect.flatMap((app) => HttpServer.serveEffect(app)),
  Layer.effectDiscard,
  Layer.provide(middleware),
  Layer.provide(LiveStatus.layer),
  Layer.provide([limits, DocumentChecks.layer, InvoicePdfs.layer, Login.layer, SubmissionReader.layer]),
  Layer.provide([Authenticator.layer, LoginThrottle.layer, Passwords.layer]),
  Layer.provide(LimitStores.layer)
)
