/**
 * The HTTP side of the server: the declared API, the operational paths, and the pipeline around them.
 *
 * @since 0.1.0
 */
import { Api, SubmissionHeaders, Validation } from "@govoice/api"
import { Layer } from "effect"
import { HttpRouter } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { RateLimiter } from "effect/persistence"
import * as LiveMode from "../gateway/LiveMode.ts"
import * as Credentials from "../security/Credentials.ts"
import * as LoginGuard from "../security/LoginGuard.ts"
import * as Passwords from "../security/Passwords.ts"
import * as AccountsHttp from "./AccountsHttp.ts"
import * as ApiKeysHttp from "./ApiKeysHttp.ts"
import * as Authorization from "./Authorization.ts"
import * as BodyReading from "./BodyReading.ts"
import * as InvoicesHttp from "./InvoicesHttp.ts"
import * as MeHttp from "./MeHttp.ts"
import * as NodeServer from "./NodeServer.ts"
import * as Operational from "./Operational.ts"
import * as OrganizationsHttp from "./OrganizationsHttp.ts"
import * as Pipeline from "./Pipeline.ts"
import * as RateLimitStore from "./RateLimitStore.ts"
import * as RateLimits from "./RateLimits.ts"
import * as WebhookEndpointsHttp from "./WebhookEndpointsHttp.ts"

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
  SubmissionHeaders.layer,
  Validation.layer,
  Validation.layerSubmission
)

const rateLimits = RateLimits.layer.pipe(Layer.provide(RateLimiter.layer.pipe(Layer.provide(RateLimitStore.layer))))

const routes = Layer.mergeAll(
  HttpApiBuilder.layer(Api, { openapiPath: "/openapi.json" }).pipe(Layer.provide(handlers)),
  Operational.layer
).pipe(Layer.provide(Pipeline.layer))

// A path is what it says, letter by letter. How long a segment may be is up to the bound of the headers alone, since an
// identifier that is too long is as unknown as any other.
const routerConfig = {
  caseSensitive: true,
  ignoreDuplicateSlashes: false,
  ignoreTrailingSlash: false,
  maxParamLength: NodeServer.bounds.maxHeaderSize
}

/**
 * Layer that serves everything on the HTTP server that it is given.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = HttpRouter.serve(routes, { disableLogger: true, disableListenLog: true, routerConfig }).pipe(
  Layer.provide(middleware),
  Layer.provide([rateLimits, LiveMode.layer, LoginGuard.layer, Passwords.layer]),
  Layer.provide(Credentials.layer)
)
