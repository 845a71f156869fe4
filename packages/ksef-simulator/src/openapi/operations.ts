/**
 * The operations that the simulator carries out, by the names under which faults and the ledger speak of them. Every other
 * operation of the document is answered with 501.
 */
export const operations = {
  listPublicKeys: "GET /security/public-key-certificates",
  createChallenge: "POST /auth/challenge",
  loginWithToken: "POST /auth/ksef-token",
  loginWithCertificate: "POST /auth/xades-signature",
  getLogin: "GET /auth/{referenceNumber}",
  redeemTokens: "POST /auth/token/redeem",
  refreshToken: "POST /auth/token/refresh",
  listLogins: "GET /auth/sessions",
  revokeCurrentLogin: "DELETE /auth/sessions/current",
  revokeLogin: "DELETE /auth/sessions/{referenceNumber}",
  openOnlineSession: "POST /sessions/online",
  sendInvoice: "POST /sessions/online/{referenceNumber}/invoices",
  closeOnlineSession: "POST /sessions/online/{referenceNumber}/close",
  openBatchSession: "POST /sessions/batch",
  closeBatchSession: "POST /sessions/batch/{referenceNumber}/close",
  listSessions: "GET /sessions",
  getSession: "GET /sessions/{referenceNumber}",
  listInvoices: "GET /sessions/{referenceNumber}/invoices",
  listFailedInvoices: "GET /sessions/{referenceNumber}/invoices/failed",
  getInvoice: "GET /sessions/{referenceNumber}/invoices/{invoiceReferenceNumber}",
  getInvoiceUpo: "GET /sessions/{referenceNumber}/invoices/{invoiceReferenceNumber}/upo",
  getInvoiceUpoByNumber: "GET /sessions/{referenceNumber}/invoices/ksef/{ksefNumber}/upo",
  getSessionUpo: "GET /sessions/{referenceNumber}/upo/{upoReferenceNumber}",
  downloadInvoice: "GET /invoices/ksef/{ksefNumber}",
  createToken: "POST /tokens",
  listTokens: "GET /tokens",
  getToken: "GET /tokens/{referenceNumber}",
  revokeToken: "DELETE /tokens/{referenceNumber}",
  grantAuthorization: "POST /permissions/authorizations/grants",
  revokeAuthorization: "DELETE /permissions/authorizations/grants/{permissionId}",
  queryAuthorizations: "POST /permissions/query/authorizations/grants",
  getPermissionsOperation: "GET /permissions/operations/{referenceNumber}",
  getCertificateLimits: "GET /certificates/limits",
  getEnrollmentData: "GET /certificates/enrollments/data",
  enrollCertificate: "POST /certificates/enrollments",
  getEnrollment: "GET /certificates/enrollments/{referenceNumber}",
  retrieveCertificates: "POST /certificates/retrieve",
  revokeCertificate: "POST /certificates/{certificateSerialNumber}/revoke",
  queryCertificates: "POST /certificates/query",
  getContextLimits: "GET /limits/context",
  getSubjectLimits: "GET /limits/subject",
  getRateLimits: "GET /rate-limits",
  setSessionLimits: "POST /testdata/limits/context/session",
  resetSessionLimits: "DELETE /testdata/limits/context/session",
  setRateLimits: "POST /testdata/rate-limits",
  resetRateLimits: "DELETE /testdata/rate-limits",
  setProductionRateLimits: "POST /testdata/rate-limits/production",
  blockContext: "POST /testdata/context/block",
  unblockContext: "POST /testdata/context/unblock",
  grantPermissions: "POST /testdata/permissions",
  revokePermissions: "POST /testdata/permissions/revoke",
  allowAttachments: "POST /testdata/attachment",
  forbidAttachments: "POST /testdata/attachment/revoke"
} as const

/** The name of an operation that the simulator carries out. */
export type OperationName = keyof typeof operations

/** Calls outside of the document: the storage that handed-out links point to, and the beacon. */
export const outsideOperations = ["uploadPart", "downloadUpo", "getBeaconStatus", "getBeaconMessages"] as const

/** The name of a call outside of the document. */
export type OutsideOperationName = (typeof outsideOperations)[number]

/** The names, by method and path of the document. */
export const nameOf: ReadonlyMap<string, OperationName> = new Map(
  (Object.entries(operations) as Array<[OperationName, string]>).map(([name, key]) => [key, name])
)
