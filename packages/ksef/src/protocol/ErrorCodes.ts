/**
 * Every error code of the operations that Govoice uses, and the reasons of a 403.
 *
 * @since 0.1.0
 */
import type { CredentialCode, LoginAction } from "./LoginStatuses.ts"
import type { Operation } from "./Operation.ts"

/**
 * The reaction of the gateway to an error.
 *
 * **Details**
 *
 * - `new-session`: open another session at once; it counts as no attempt. After two with `maintenance` in a row, wait 5 min.
 * - `already-closed`: the session is closed, which was wanted.
 * - `session-unreadable`: this login cannot read the session any more, or there is none.
 * - `refresh-keys`: read the public keys again, then repeat once.
 * - `upload-again`: of a batch, upload the missing part.
 * - `new-batch`: open another batch session.
 * - `not-yet`: ask again later.
 * - `not-readable`: no such document for this login.
 * - `first-page`: read the list from its beginning.
 * - `reject`: KSeF will not take the document in this form: reject the invoice.
 * - `defect`: a mistake of ours: log an error, fail with `gateway_protocol_error`.
 * - the actions of a login.
 *
 * @category models
 * @since 0.1.0
 */
export type ErrorAction =
  | "new-session"
  | "already-closed"
  | "session-unreadable"
  | "refresh-keys"
  | "upload-again"
  | "new-batch"
  | "not-yet"
  | "not-readable"
  | "first-page"
  | "reject"
  | "defect"
  | LoginAction

/**
 * One error code.
 *
 * **Details**
 *
 * - `at`: the operations that document it.
 * - `refusal`: what the owner of a credential sees, where the action is a refusal.
 * - `since`: the API version that brought it, where the OpenAPI document in the tests is older.
 *
 * @category models
 * @since 0.1.0
 */
export interface Row {
  readonly code: number
  readonly meaning: string
  readonly at: ReadonlyArray<Operation>
  readonly action: ErrorAction
  readonly refusal?: CredentialCode
  readonly since?: string
}

/**
 * The code with which KSeF refuses a send during maintenance: its session is unavailable for a while.
 *
 * @category constants
 * @since 0.1.0
 */
export const maintenance = 21184

const xades: ReadonlyArray<Operation> = ["loginWithXades"]
const logins: ReadonlyArray<Operation> = ["loginWithToken", "loginWithXades"]
const opens: ReadonlyArray<Operation> = ["openOnline", "openBatch"]

/**
 * The documented codes. One code can have several rows, for different operations. Code 21405, invalid input, is
 * documented for nearly every operation, and is a defect at all of them.
 *
 * @category constants
 * @since 0.1.0
 */
export const errorCodes: ReadonlyArray<Row> = [
  ...(
    [
      [9101, "invalid document"],
      [9102, "no signature"],
      [9103, "more than one signature"],
      [9105, "invalid signature"],
      [21001, "unreadable content"],
      [21115, "invalid certificate"],
      [21217, "wrong character encoding"],
      [21401, "the document does not follow its schema"],
      [21406, "signature and kind of login do not fit"]
    ] as const
  ).map(([code, meaning]): Row => ({ code, meaning, at: xades, action: "refuse", refusal: "certificate_refused" })),
  { code: 21111, meaning: "wrong challenge", at: logins, action: "log-in-again" },
  {
    code: 21117,
    meaning: "the identifier does not fit the kind of context",
    at: xades,
    action: "refuse",
    refusal: "credential_of_another_context"
  },
  { code: 21155, meaning: "the session has the maximum number of invoices", at: ["send"], action: "new-session" },
  { code: 21157, meaning: "wrong size of a part", at: ["openBatch", "closeBatch"], action: "defect" },
  { code: 21161, meaning: "too many parts", at: ["openBatch"], action: "defect" },
  { code: 21164, meaning: "no such invoice", at: ["invoice"], action: "not-readable" },
  { code: 21165, meaning: "the invoice is not stored yet", at: ["invoice"], action: "not-yet" },
  { code: 21166, meaning: "technical correction not available", at: ["send"], action: "reject" },
  { code: 21167, meaning: "technical correction not allowed", at: ["send"], action: "reject" },
  {
    code: 21173,
    meaning: "no such session",
    at: ["sessionStatus", "sessionInvoices", "closeOnline", "closeBatch"],
    action: "session-unreadable"
  },
  { code: 21173, meaning: "no such session", at: ["send"], action: "new-session" },
  {
    code: 21178,
    meaning: "no such receipt, or not yet",
    at: ["invoiceUpoByKsefNumber"],
    action: "not-yet"
  },
  { code: 21180, meaning: "the status of the session forbids it", at: ["send"], action: "new-session" },
  {
    code: 21180,
    meaning: "the status of the session forbids it",
    at: ["closeOnline", "closeBatch"],
    action: "already-closed"
  },
  {
    code: maintenance,
    meaning: "maintenance: the session is unavailable",
    at: ["send"],
    action: "new-session",
    since: "2.8.0"
  },
  { code: 21205, meaning: "a declared part was not uploaded", at: ["closeBatch"], action: "upload-again" },
  { code: 21208, meaning: "the upload took too long", at: ["closeBatch"], action: "new-batch" },
  {
    code: 21301,
    meaning: "tokens were fetched before, or the login or the token ended",
    at: ["redeem", "refresh"],
    action: "log-in-again"
  },
  { code: 21304, meaning: "no such login", at: ["loginStatus", "redeem", "refresh"], action: "log-in-again" },
  {
    code: 21308,
    meaning: "credential of a deceased person",
    at: ["redeem", "refresh"],
    action: "refuse",
    refusal: "credential_invalid"
  },
  { code: 21402, meaning: "the size does not fit the content", at: ["send"], action: "defect" },
  { code: 21403, meaning: "the hash does not fit the content", at: ["send"], action: "defect" },
  {
    code: 21405,
    meaning: "invalid input",
    at: [
      ...logins,
      ...opens,
      "revoke",
      "send",
      "closeOnline",
      "closeBatch",
      "sessionStatus",
      "sessionInvoices",
      "invoiceStatus",
      "invoiceUpo",
      "invoiceUpoByKsefNumber",
      "invoice"
    ],
    action: "defect"
  },
  {
    code: 21418,
    meaning: "wrong continuation token",
    at: ["sessionInvoices"],
    action: "first-page"
  },
  {
    code: 21470,
    meaning: "unknown or withdrawn public key",
    at: ["loginWithToken", ...opens],
    action: "refresh-keys"
  }
]

/**
 * Returns what a code means at an operation. A code that is documented for other operations only has the meaning of its
 * first row; for one that is not documented the result is `undefined`.
 *
 * @category getters
 * @since 0.1.0
 */
export const errorCode = (operation: Operation, code: number): Row | undefined =>
  errorCodes.find((row) => row.code === code && row.at.includes(operation)) ??
  errorCodes.find((row) => row.code === code)

/**
 * The reaction of the gateway to a 403.
 *
 * **Details**
 *
 * - `refuse`: the credential lacks a right, or may not be used from here or in this way.
 * - `not-readable`: this login cannot read the session or invoice; others may.
 * - `unavailable`: the firewall could not reach KSeF: the same as an error of the server.
 * - `retry`: nothing is known about it: ask again after 2, 10 and 30 s, then `rest`.
 * - `rest`: KSeF or its firewall blocks the taxpayer: wait 15 min, doubling to 6 h.
 *
 * @category models
 * @since 0.1.0
 */
export type ForbiddenAction = "refuse" | "not-readable" | "unavailable" | "retry" | "rest"

/**
 * One reason of a 403. `refusal` is what the owner of the credential sees.
 *
 * @category models
 * @since 0.1.0
 */
export interface ForbiddenRow {
  readonly meaning: string
  readonly action: ForbiddenAction
  readonly refusal?: CredentialCode
}

/**
 * The documented reasons of a 403. Source: `ForbiddenProblemDetails` of the OpenAPI document.
 *
 * @category constants
 * @since 0.1.0
 */
export const forbiddenReasons: ReadonlyMap<string, ForbiddenRow> = new Map<string, ForbiddenRow>([
  ["missing-permissions", { meaning: "a right is missing", action: "refuse", refusal: "credential_without_rights" }],
  [
    "ip-not-allowed",
    { meaning: "another address than the login allows", action: "refuse", refusal: "credential_invalid" }
  ],
  ["insufficient-resource-access", { meaning: "no access to this session or invoice", action: "not-readable" }],
  [
    "auth-method-not-allowed",
    { meaning: "not allowed with this kind of login", action: "refuse", refusal: "token_login_refused" }
  ],
  ["security-service-blocked", { meaning: "blocked by a security service", action: "rest" }],
  [
    "context-type-not-allowed",
    { meaning: "not allowed in this kind of context", action: "refuse", refusal: "credential_of_another_context" }
  ]
])

/**
 * One text of the firewall before KSeF, which gives no reason code.
 *
 * **Details**
 *
 * - `text`: how the `detail` begins, or a part of the page.
 * - `source`: where it was published.
 *
 * @category models
 * @since 0.1.0
 */
export interface FirewallRow extends ForbiddenRow {
  readonly text: string
  readonly source: string
}

/**
 * The texts of the firewall before KSeF (Imperva) that tell whether a 403 passes by itself.
 *
 * @category constants
 * @since 0.1.0
 */
export const firewallTexts: ReadonlyArray<FirewallRow> = [
  {
    text: "The proxy failed to connect to the web server, due to TCP connection timeout",
    meaning: "the firewall could not connect to KSeF in time",
    action: "unavailable",
    source: "error page 20 of Imperva"
  },
  {
    text: "The proxy failed to connect to the web server, due to TCP connection rejection",
    meaning: "the firewall was refused a connection to KSeF",
    action: "unavailable",
    source: "error page 8 of Imperva"
  },
  {
    text: "This request was blocked by our security service",
    meaning: "the firewall blocks this address or client",
    action: "rest",
    source: "issues 247 and 617 of CIRFMF/ksef-api; error pages 14 to 16 of Imperva"
  }
]

/**
 * Returns what a 403 means by its reason, or by its text where it has none: firewalls give no reasons.
 *
 * @category getters
 * @since 0.1.0
 */
export const forbidden = (reasonCode: string | undefined, detail: string | undefined): ForbiddenRow =>
  forbiddenReasons.get(reasonCode ?? "") ??
  firewallTexts.find(({ text }) => detail?.startsWith(text) === true) ?? {
    meaning: "blocked without a reason that is known",
    action: "retry"
  }
