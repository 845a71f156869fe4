/** Checks a credential for the national system before it is stored, as far as that is possible without a login. */
import type { GatewayCredential } from "@govoice/api"
import { SigningCredential } from "@govoice/ksef/xades"
import { Data, Effect, Redacted } from "effect"
import type { SlotsFull } from "../../jobs/FairSlots.ts"
import type { CheckedCredential } from "./GatewayCredentials.ts"
import * as KeyFileQueue from "./KeyFileQueue.ts"

/** A credential that cannot be stored. `message` is a sentence without any secret. */
export class InvalidCredential extends Data.TaggedError("InvalidCredential")<{
  /** The member of the request at fault. */
  readonly param: string
  readonly message: string
}> {}

const fail = (param: string, message: string) => Effect.fail(new InvalidCredential({ param, message }))

/**
 * Checks a credential at a time in milliseconds. Encrypted keys are opened in turn. Fails with `SlotsFull` if too many wait.
 */
export const checkGatewayCredential = (
  request: GatewayCredential.GatewayCredentialRequest,
  owner: KeyFileQueue.KeyFileOwner,
  now: number
): Effect.Effect<CheckedCredential, InvalidCredential | SlotsFull> =>
  request.type === "certificate" ? checkCertificate(request, owner, now) : checkToken(request, now)

// The form of tokens that KSeF issues: reference, NIP of the context, secret.
const tokenForm = /^[^|]+\|nip-(\d{10})\|[0-9a-f]{64}$/i

const checkToken = (
  { context_nip, expires_at, token }: typeof GatewayCredential.KsefTokenCredential.Type,
  now: number
): Effect.Effect<CheckedCredential, InvalidCredential> => {
  if (token.trim() !== token) return fail("token", "token must not begin or end with white space.")
  const nip = tokenForm.exec(token)?.[1]
  if (nip !== undefined && nip !== context_nip) {
    return fail("context_nip", `context_nip must be ${nip}, the NIP that the token was issued for.`)
  }
  const expiresAt = expires_at == null ? undefined : new Date(expires_at)
  if (expiresAt !== undefined && expiresAt.getTime() <= now) {
    return fail("expires_at", "expires_at must be in the future.")
  }
  return Effect.succeed({
    credential: { type: "ksef_token", token: Redacted.make(token) },
    contextNip: context_nip,
    expiresAt
  })
}

const maxPemBytes = 16_384

const paramOf: Readonly<Record<SigningCredential.CredentialError["reason"], string>> = {
  "certificate-unreadable": "certificate",
  "not-yet-valid": "certificate",
  expired: "certificate",
  "offline-certificate": "certificate",
  "key-usage": "certificate",
  "key-unreadable": "private_key",
  "key-mismatch": "private_key",
  "key-unsupported": "private_key",
  password: "private_key_password"
}

// Opening an encrypted key can take a second of a thread. One at a time leaves the others to logins and lookups. A thread cannot
// be interrupted, so that a request that times out has to wait for its own.
const opening = KeyFileQueue.make()

// Both forms of encrypted keys contain the word.
const isEncrypted = (privateKey: string): boolean => privateKey.includes("ENCRYPTED")

const checkCertificate = (
  request: typeof GatewayCredential.CertificateCredential.Type,
  owner: KeyFileQueue.KeyFileOwner,
  now: number
): Effect.Effect<CheckedCredential, InvalidCredential | SlotsFull> => {
  const { certificate, private_key: privateKey } = request
  if (Buffer.byteLength(certificate) + Buffer.byteLength(privateKey) > maxPemBytes) {
    return fail("certificate", "certificate and private_key must have at most 16 KiB together.")
  }
  const password = request.private_key_password ?? undefined
  const opened = Effect.uninterruptible(SigningCredential.open({ certificate, privateKey, password }, now))
  return (isEncrypted(privateKey) ? opening.run(owner)(opened) : opened).pipe(
    Effect.catchTag("CredentialError", ({ message, reason }) => fail(paramOf[reason], message)),
    Effect.map((pair) => ({
      credential: {
        type: "certificate",
        certificate: pair.certificate.toString(),
        privateKey: Redacted.make(pair.key().export({ type: "pkcs8", format: "pem" }).toString())
      },
      contextNip: request.context_nip,
      expiresAt: pair.certificate.validToDate
    }))
  )
}
