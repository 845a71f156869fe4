/**
 * The operations of the KSeF API that Govoice uses: method, path, and the group whose limits count them.
 *
 * @since 0.1.0
 */

/**
 * A group of operations that share limits. `anonymous` counts by address alone, the others by context and address.
 *
 * @category models
 * @since 0.1.0
 */
export type RateLimitGroup =
  | "anonymous"
  | "onlineSession"
  | "onlineSessionClose"
  | "invoiceSend"
  | "invoiceStatus"
  | "sessionMisc"
  | "sessionInvoiceList"
  | "invoiceDownload"
  | "batchSession"
  | "batchSessionClose"
  | "other"

/**
 * One operation.
 *
 * **Details**
 *
 * - `path`: the template below the base URL.
 * - `bearer`: which token authorizes it.
 * - `success`: the status of a successful answer.
 *
 * @category models
 * @since 0.1.0
 */
export interface Definition {
  readonly method: "GET" | "POST" | "DELETE"
  readonly path: string
  readonly group: RateLimitGroup
  readonly bearer: "none" | "authentication" | "refresh" | "access"
  readonly success: 200 | 201 | 202 | 204
}

const define = <const Table extends Readonly<Record<string, Definition>>>(table: Table): Table => table

/**
 * Every operation, by name. Source: the OpenAPI document 2.7.0; the groups of closing are those of 2.8.0.
 *
 * @category constants
 * @since 0.1.0
 */
export const operations = define({
  publicKeys: {
    method: "GET",
    path: "/security/public-key-certificates",
    group: "anonymous",
    bearer: "none",
    success: 200
  },
  challenge: { method: "POST", path: "/auth/challenge", group: "anonymous", bearer: "none", success: 200 },
  loginWithToken: { method: "POST", path: "/auth/ksef-token", group: "anonymous", bearer: "none", success: 202 },
  loginWithXades: { method: "POST", path: "/auth/xades-signature", group: "anonymous", bearer: "none", success: 202 },
  loginStatus: {
    method: "GET",
    path: "/auth/{referenceNumber}",
    group: "anonymous",
    bearer: "authentication",
    success: 200
  },
  redeem: {
    method: "POST",
    path: "/auth/token/redeem",
    group: "anonymous",
    bearer: "authentication",
    success: 200
  },
  refresh: { method: "POST", path: "/auth/token/refresh", group: "anonymous", bearer: "refresh", success: 200 },
  revoke: { method: "DELETE", path: "/auth/sessions/current", group: "other", bearer: "refresh", success: 204 },
  openOnline: { method: "POST", path: "/sessions/online", group: "onlineSession", bearer: "access", success: 201 },
  send: {
    method: "POST",
    path: "/sessions/online/{referenceNumber}/invoices",
    group: "invoiceSend",
    bearer: "access",
    success: 202
  },
  closeOnline: {
    method: "POST",
    path: "/sessions/online/{referenceNumber}/close",
    group: "onlineSessionClose",
    bearer: "access",
    success: 204
  },
  openBatch: { method: "POST", path: "/sessions/batch", group: "batchSession", bearer: "access", success: 201 },
  closeBatch: {
    method: "POST",
    path: "/sessions/batch/{referenceNumber}/close",
    group: "batchSessionClose",
    bearer: "access",
    success: 204
  },
  sessionStatus: {
    method: "GET",
    path: "/sessions/{referenceNumber}",
    group: "sessionMisc",
    bearer: "access",
    success: 200
  },
  sessionInvoices: {
    method: "GET",
    path: "/sessions/{referenceNumber}/invoices",
    group: "sessionInvoiceList",
    bearer: "access",
    success: 200
  },
  invoiceStatus: {
    method: "GET",
    path: "/sessions/{referenceNumber}/invoices/{invoiceReferenceNumber}",
    group: "invoiceStatus",
    bearer: "access",
    success: 200
  },
  invoiceUpo: {
    method: "GET",
    path: "/sessions/{referenceNumber}/invoices/{invoiceReferenceNumber}/upo",
    group: "sessionMisc",
    bearer: "access",
    success: 200
  },
  invoiceUpoByKsefNumber: {
    method: "GET",
    path: "/sessions/{referenceNumber}/invoices/ksef/{ksefNumber}/upo",
    group: "sessionMisc",
    bearer: "access",
    success: 200
  },
  invoice: {
    method: "GET",
    path: "/invoices/ksef/{ksefNumber}",
    group: "invoiceDownload",
    bearer: "access",
    success: 200
  },
  contextLimits: { method: "GET", path: "/limits/context", group: "other", bearer: "access", success: 200 },
  rateLimits: { method: "GET", path: "/rate-limits", group: "other", bearer: "access", success: 200 }
})

/**
 * The name of an operation.
 *
 * @category models
 * @since 0.1.0
 */
export type Operation = keyof typeof operations

/**
 * Limits of one group: calls in a sliding second, minute and hour; `undefined` where there is none.
 *
 * @category models
 * @since 0.1.0
 */
export interface RateLimit {
  readonly perSecond: number | undefined
  readonly perMinute: number | undefined
  readonly perHour: number | undefined
}

const limit = (perSecond: number, perMinute?: number, perHour?: number): RateLimit => ({
  perSecond,
  perMinute,
  perHour
})

/**
 * The limits of production, which hold until `rateLimits` tells others. Source: limity-api.md of 2026-09-14.
 *
 * @category constants
 * @since 0.1.0
 */
export const defaultRateLimits: Readonly<Record<RateLimitGroup, RateLimit>> = {
  anonymous: limit(60),
  onlineSession: limit(10, 30, 120),
  onlineSessionClose: limit(20, 60, 240),
  invoiceSend: limit(10, 30, 180),
  invoiceStatus: limit(30, 120, 1200),
  sessionMisc: limit(10, 120, 1200),
  sessionInvoiceList: limit(10, 20, 200),
  invoiceDownload: limit(8, 16, 64),
  batchSession: limit(10, 20, 60),
  batchSessionClose: limit(20, 40, 120),
  other: limit(10, 30, 120)
}
