/**
 * The operations of KSeF as Effects.
 *
 * A client keeps connections and nothing else: tokens, session keys and limits are its caller's. It repeats no call.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Oaep from "../crypto/Oaep.ts"
import type { PublicKey } from "../crypto/PublicKeys.ts"
import type { SealedDocument } from "../crypto/SealedDocument.ts"
import type { SessionKey } from "../crypto/SessionKey.ts"
import type { ContextIdentifier } from "../format/ContextIdentifier.ts"
import type { FormCode } from "../protocol/FormCode.ts"
import * as LimitAnswers from "../protocol/LimitAnswers.ts"
import * as LoginAnswers from "../protocol/LoginAnswers.ts"
import type { Operation } from "../protocol/Operation.ts"
import * as SessionAnswers from "../protocol/SessionAnswers.ts"
import * as SystemWarning from "../protocol/SystemWarning.ts"
import * as answers from "./answers.ts"
import { Caller, type OperationRequest } from "./caller.ts"
import type { Response } from "./exchange.ts"
import { KsefError } from "./KsefError.ts"
import { type Options, resolveOptions } from "./Options.ts"

/**
 * A token that authorizes calls. It is never logged.
 *
 * @category models
 * @since 0.1.0
 */
export type Bearer = Redacted.Redacted

/**
 * Which session a call is about, and as whom it is made.
 *
 * @category models
 * @since 0.1.0
 */
export interface InSession {
  readonly accessToken: Bearer
  readonly session: string
}

/**
 * What KSeF sent beside an answer.
 *
 * @category models
 * @since 0.1.0
 */
export interface Warned {
  readonly warnings: ReadonlyArray<SystemWarning.SystemWarning>
}

/**
 * Which page of a list to read: 10 to 1,000 entries, 1,000 by default, from the beginning or after another page.
 *
 * @category models
 * @since 0.1.0
 */
export interface Page {
  readonly pageSize?: number | undefined
  readonly continuationToken?: string | undefined
}

/**
 * The parameters that open a session: its form, its key, and the key of the Ministry that wraps it.
 *
 * @category models
 * @since 0.1.0
 */
export interface OpenSession {
  readonly accessToken: Bearer
  readonly form: FormCode
  readonly sessionKey: SessionKey
  readonly publicKey: PublicKey
}

type Answer<S extends Schema.ConstraintDecoder<unknown>> = Effect.Effect<S["Type"], KsefError>

/**
 * A client. Every call fails with a `KsefError` alone.
 *
 * **Details**
 *
 * - `loginWithToken` encrypts the token together with the time of the challenge.
 * - `redeem` succeeds once. After a lost answer, begin a new login.
 * - `revoke` ends the login of a refresh token; its access tokens stay valid until they expire.
 * - `send` takes one document, sealed with the key of the session. After a lost answer, look it up by its hash.
 * - `openBatch` declares an archive (tar.gz) and its encrypted parts; `uploadPart` sends one without a token;
 *   `closeBatch` starts the processing.
 * - `downloadUpo` follows the link of an invoice's status, without a token and without limits.
 *
 * @category models
 * @since 0.1.0
 */
export interface KsefClient {
  readonly publicKeys: Answer<typeof LoginAnswers.PublicKeys>
  readonly challenge: Answer<typeof LoginAnswers.Challenge>
  readonly loginWithToken: (login: {
    readonly challenge: typeof LoginAnswers.Challenge.Type
    readonly context: ContextIdentifier
    readonly token: Redacted.Redacted
    readonly publicKey: PublicKey
  }) => Answer<typeof LoginAnswers.LoginStarted>
  readonly loginWithXades: (signedDocument: string) => Answer<typeof LoginAnswers.LoginStarted>
  readonly loginStatus: (login: typeof LoginAnswers.LoginStarted.Type) => Answer<typeof LoginAnswers.LoginStatus>
  readonly redeem: (authenticationToken: Bearer) => Answer<typeof LoginAnswers.Tokens>
  readonly refresh: (refreshToken: Bearer) => Answer<typeof LoginAnswers.Refreshed>
  readonly revoke: (refreshToken: Bearer) => Effect.Effect<void, KsefError>

  readonly openOnline: (session: OpenSession) => Answer<typeof SessionAnswers.OnlineSessionOpened>
  readonly send: (
    invoice: InSession & {
      readonly document: SealedDocument
      /** Whether the seller issued it offline. */
      readonly offlineMode?: boolean
      /** SHA-256 in Base64 of the document that it corrects technically. */
      readonly hashOfCorrectedInvoice?: string | undefined
    }
  ) => Effect.Effect<typeof SessionAnswers.InvoiceSent.Type & Warned, KsefError>
  readonly closeOnline: (session: InSession) => Effect.Effect<void, KsefError>

  readonly openBatch: (
    session: OpenSession & {
      readonly archive: Pick<SealedDocument, "size" | "hash">
      readonly parts: ReadonlyArray<SealedDocument>
      /** Whether the seller issued its documents offline, all of them. */
      readonly offlineMode?: boolean
    }
  ) => Answer<typeof SessionAnswers.BatchSessionOpened>
  readonly uploadPart: (part: SessionAnswers.PartUpload, encrypted: Uint8Array) => Effect.Effect<void, KsefError>
  readonly closeBatch: (session: InSession) => Effect.Effect<Warned, KsefError>

  readonly sessionStatus: (session: InSession) => Answer<typeof SessionAnswers.SessionStatus>
  readonly sessionInvoices: (session: InSession & Page) => Answer<typeof SessionAnswers.InvoicePage>
  readonly invoiceStatus: (
    invoice: InSession & { readonly invoice: string }
  ) => Answer<typeof SessionAnswers.InvoiceStatus>

  readonly invoiceUpo: (invoice: InSession & { readonly invoice: string }) => Effect.Effect<answers.Download, KsefError>
  readonly invoiceUpoByKsefNumber: (
    invoice: InSession & { readonly ksefNumber: string }
  ) => Effect.Effect<answers.Download, KsefError>
  readonly downloadUpo: (link: Redacted.Redacted) => Effect.Effect<answers.Download, KsefError>
  readonly invoice: (invoice: {
    readonly accessToken: Bearer
    readonly ksefNumber: string
  }) => Effect.Effect<answers.Download, KsefError>

  readonly contextLimits: (accessToken: Bearer) => Answer<typeof LimitAnswers.ContextLimits>
  readonly rateLimits: (accessToken: Bearer) => Answer<typeof LimitAnswers.RateLimits>
  /** The message of the beacon; `undefined` where the environment has none. */
  readonly beacon: Effect.Effect<typeof LimitAnswers.Beacon.Type | undefined, KsefError>
  /** What the beacon has announced; nothing where the environment has none. */
  readonly beaconMessages: Effect.Effect<typeof LimitAnswers.BeaconMessages.Type, KsefError>
}

/**
 * Makes a client. Its connections are closed with the scope, and calls that are still under way then fail.
 *
 * @throws {TypeError} as a defect, when `ca` has no certificate that can be read, or `proxy` is no such URL.
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): Effect.Effect<KsefClient, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => new Caller(resolveOptions(options))),
      (caller) => Effect.sync(() => caller.close())
    ),
    client
  )

const warned = (response: Response): Warned => ({
  warnings: SystemWarning.read(answers.header(response, "x-system-warning"))
})

const maxUpoBytes = 1024 * 1024
const maxInvoiceBytes = 4 * 1024 * 1024

const client = (caller: Caller): KsefClient => {
  const jsonOf = <S extends Schema.ConstraintDecoder<unknown>>(operation: Operation, schema: S) => {
    const decode = answers.json(schema)
    return (request: OperationRequest = {}): Answer<S> =>
      Effect.flatMap(caller.operation(operation, request), (response) => decode(operation, response))
  }
  const xmlOf = (operation: Operation, request: OperationRequest) =>
    Effect.flatMap(
      caller.operation(operation, { accept: "application/xml", maxBytes: maxUpoBytes, ...request }),
      (response) => answers.xml(operation, response)
    )
  const nothingOf = (operation: Operation, request: OperationRequest) =>
    Effect.asVoid(caller.operation(operation, request))

  const operations = {
    publicKeys: jsonOf("publicKeys", LoginAnswers.PublicKeys),
    challenge: jsonOf("challenge", LoginAnswers.Challenge),
    loginWithToken: jsonOf("loginWithToken", LoginAnswers.LoginStarted),
    loginWithXades: jsonOf("loginWithXades", LoginAnswers.LoginStarted),
    loginStatus: jsonOf("loginStatus", LoginAnswers.LoginStatus),
    redeem: jsonOf("redeem", LoginAnswers.Tokens),
    refresh: jsonOf("refresh", LoginAnswers.Refreshed),
    openOnline: jsonOf("openOnline", SessionAnswers.OnlineSessionOpened),
    openBatch: jsonOf("openBatch", SessionAnswers.BatchSessionOpened),
    sessionStatus: jsonOf("sessionStatus", SessionAnswers.SessionStatus),
    sessionInvoices: jsonOf("sessionInvoices", SessionAnswers.InvoicePage),
    invoiceStatus: jsonOf("invoiceStatus", SessionAnswers.InvoiceStatus),
    contextLimits: jsonOf("contextLimits", LimitAnswers.ContextLimits),
    rateLimits: jsonOf("rateLimits", LimitAnswers.RateLimits)
  }
  const decodeSent = answers.json(SessionAnswers.InvoiceSent)
  const decodeBeacon = answers.json(LimitAnswers.Beacon)
  const decodeBeaconMessages = answers.json(LimitAnswers.BeaconMessages)
  const { timeoutMs, uploadTimeoutMs } = caller.options
  const { beaconUrl, features } = caller.options.environment
  const openHeaders = features.length === 0 ? {} : { "x-ksef-feature": features.join(",") }
  const ofBeacon = (url: string) =>
    caller.plain("beacon", { method: "GET", url, maxBytes: maxUpoBytes, timeoutMs: 5_000 })

  return {
    publicKeys: operations.publicKeys(),
    challenge: operations.challenge(),
    loginWithToken: ({ challenge, context, publicKey, token }) =>
      Effect.suspend(() => {
        const plain = Buffer.from(`${Redacted.value(token)}|${challenge.timestampMs}`)
        const encryptedToken = Oaep.encrypt(publicKey.key, plain).toString("base64")
        plain.fill(0)
        return operations.loginWithToken({
          body: jsonBody({
            challenge: challenge.challenge,
            contextIdentifier: { type: context.type, value: context.value },
            encryptedToken,
            publicKeyId: publicKey.id
          })
        })
      }),
    loginWithXades: (document) =>
      operations.loginWithXades({ body: { type: "application/xml", bytes: Buffer.from(document) } }),
    loginStatus: ({ authenticationToken, referenceNumber }) =>
      operations.loginStatus({ bearer: authenticationToken.token, parameters: { referenceNumber } }),
    redeem: (bearer) => operations.redeem({ bearer }),
    refresh: (bearer) => operations.refresh({ bearer }),
    revoke: (bearer) => nothingOf("revoke", { bearer }),

    openOnline: ({ accessToken, form, publicKey, sessionKey }) =>
      Effect.suspend(() =>
        operations.openOnline({
          bearer: accessToken,
          headers: openHeaders,
          body: jsonBody({ formCode: formOf(form), encryption: encryptionOf(sessionKey, publicKey) })
        })
      ),
    send: ({ document, hashOfCorrectedInvoice, offlineMode = false, ...session }) => {
      const call = caller.operation("send", {
        ...about(session),
        body: jsonBody({
          invoiceHash: document.hash,
          invoiceSize: document.size,
          encryptedInvoiceHash: document.encryptedHash,
          encryptedInvoiceSize: document.encrypted.length,
          encryptedInvoiceContent: document.encrypted.toString("base64"),
          offlineMode,
          ...(hashOfCorrectedInvoice === undefined ? {} : { hashOfCorrectedInvoice })
        })
      })
      return Effect.flatMap(call, (response) =>
        Effect.map(decodeSent("send", response), (answer) => ({ ...answer, ...warned(response) }))
      )
    },
    closeOnline: (session) => nothingOf("closeOnline", about(session)),

    openBatch: ({ accessToken, archive, form, offlineMode = false, parts, publicKey, sessionKey }) =>
      Effect.suspend(() =>
        operations.openBatch({
          bearer: accessToken,
          headers: openHeaders,
          body: jsonBody({
            formCode: formOf(form),
            offlineMode,
            batchFile: {
              fileSize: archive.size,
              fileHash: archive.hash,
              compressionType: "TarGz",
              fileParts: parts.map(({ encrypted, encryptedHash }, index) => ({
                ordinalNumber: index + 1,
                fileSize: encrypted.length,
                fileHash: encryptedHash
              }))
            },
            encryption: encryptionOf(sessionKey, publicKey)
          })
        })
      ),
    uploadPart: (part, encrypted) => uploadPart(caller, part, encrypted, uploadTimeoutMs),
    closeBatch: (session) => Effect.map(caller.operation("closeBatch", about(session)), warned),

    sessionStatus: (session) => operations.sessionStatus(about(session)),
    sessionInvoices: ({ continuationToken, pageSize = 1000, ...session }) =>
      operations.sessionInvoices({
        ...about(session),
        query: { pageSize },
        headers: { "x-continuation-token": continuationToken }
      }),
    invoiceStatus: ({ invoice, ...session }) =>
      operations.invoiceStatus(about(session, { invoiceReferenceNumber: invoice })),

    invoiceUpo: ({ invoice, ...session }) => xmlOf("invoiceUpo", about(session, { invoiceReferenceNumber: invoice })),
    invoiceUpoByKsefNumber: ({ ksefNumber, ...session }) =>
      xmlOf("invoiceUpoByKsefNumber", about(session, { ksefNumber })),
    downloadUpo: (link) =>
      Effect.flatMap(
        caller.handedOut("downloadUpo", {
          method: "GET",
          url: Redacted.value(link),
          maxBytes: maxUpoBytes,
          timeoutMs
        }),
        (response) => answers.xml("downloadUpo", response)
      ),
    invoice: ({ accessToken, ksefNumber }) =>
      xmlOf("invoice", { bearer: accessToken, parameters: { ksefNumber }, maxBytes: maxInvoiceBytes }),

    contextLimits: (bearer) => operations.contextLimits({ bearer }),
    rateLimits: (bearer) => operations.rateLimits({ bearer }),
    beacon:
      beaconUrl === undefined
        ? Effect.undefined
        : Effect.flatMap(ofBeacon(`${beaconUrl}/status`), (response) => decodeBeacon("beacon", response)),
    beaconMessages:
      beaconUrl === undefined
        ? Effect.succeed([])
        : Effect.flatMap(ofBeacon(`${beaconUrl}/messages`), (response) => decodeBeaconMessages("beacon", response))
  }
}

const uploadPart = (
  caller: Caller,
  { headers, method, url }: SessionAnswers.PartUpload,
  encrypted: Uint8Array,
  timeoutMs: number
): Effect.Effect<void, KsefError> =>
  method === "PUT" || method === "POST"
    ? Effect.asVoid(
        caller.handedOut("uploadPart", {
          method,
          url: Redacted.value(url),
          headers: givenHeaders(headers),
          body: encrypted,
          maxBytes: maxUpoBytes,
          timeoutMs
        })
      )
    : Effect.fail(
        new KsefError({
          call: "uploadPart",
          outcome: "unsent",
          reason: "unreadable",
          message: "uploadPart: KSeF asked for a method that is neither PUT nor POST"
        })
      )

// Headers about the connection and about who calls are not for others to set.
const ownHeaders =
  /^(?:host|connection|content-length|transfer-encoding|upgrade|expect|te|trailer|authorization|cookie|user-agent|proxy-.*)$/i

const givenHeaders = (headers: SessionAnswers.PartUpload["headers"]): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === null || ownHeaders.test(name) ? [] : [[name.toLowerCase(), value]]
    )
  )

const about = ({ accessToken, session }: InSession, parameters: Readonly<Record<string, string>> = {}) => ({
  bearer: accessToken,
  parameters: { referenceNumber: session, ...parameters }
})

const formOf = ({ schemaVersion, systemCode, value }: FormCode) => ({ systemCode, schemaVersion, value })

const encryptionOf = (sessionKey: SessionKey, publicKey: PublicKey) => ({
  encryptedSymmetricKey: sessionKey.wrappedFor(publicKey.key),
  initializationVector: sessionKey.initializationVector,
  publicKeyId: publicKey.id
})

const jsonBody = (value: unknown) => ({ type: "application/json", bytes: Buffer.from(JSON.stringify(value)) })
