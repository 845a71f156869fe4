/** Checks a credential for the national system before it is stored, as far as that is possible without a login. */
import type { GatewayCredential, OfflineCertificate } from "@govoice/api"
import { ContextIdentifier } from "@govoice/ksef/format"
import { SigningCredential } from "@govoice/ksef/xades"
import { Data, Effect, Redacted } from "effect"
import type { CheckedCredential } from "./GatewayCredentials.ts"
import * as SlidingWindows from "../../limits/SlidingWindows.ts"
import * as Slots from "../../limits/Slots.ts"

/** A credential that cannot be stored. `message` is a sentence without any secret. */
export class InvalidCredential extends Data.TaggedError("InvalidCredential")<{
  /** The member of the request at fault. */
  readonly param: string
  readonly message: string
}> {}

const fail = (param: string, message: string) => Effect.fail(new InvalidCredential({ param, message }))

/**
 * Checks a credential at a time in milliseconds. Encrypted keys are opened in turn. Fails with `NoSlot` if too many wait.
 */
export const checkGatewayCredential = (
  request: GatewayCredential.GatewayCredentialRequest,
  owner: KeyFileOwner,
  now: number
): Effect.Effect<CheckedCredential, InvalidCredential | Slots.NoSlot> =>
  request.type === "certificate" ? checkCertificate(request, owner, now) : checkToken(request, now)

// The form of tokens that KSeF issues: reference, context, secret.
const tokenForm = /^[^|]+\|(?:nip-(\d{10})|internalId-(\d{10}-\d{5}))\|[0-9a-f]{64}$/i

const checkToken = (
  { context, expires_at, token }: typeof GatewayCredential.KsefTokenCredential.Type,
  now: number
): Effect.Effect<CheckedCredential, InvalidCredential> => {
  if (token.trim() !== token) return fail("token", "token must not begin or end with white space.")
  // Others have more bytes, and a login encrypts up to 190 with the time of its challenge.
  if (!/^[ -~]*$/.test(token)) return fail("token", "token must contain only ASCII characters.")
  if (context.type === "NipVatUe") {
    return fail(
      "context",
      "context must be of the type Nip or InternalId: KSeF issues no tokens for NipVatUe. Store a certificate."
    )
  }
  const [, nip, internalId] = tokenForm.exec(token) ?? []
  const issuedFor = nip ?? internalId
  if (issuedFor !== undefined && issuedFor !== context.value) {
    const { type, value } = ContextIdentifier.ofValue(issuedFor)
    return fail("context", `context must be ${type} ${value}, which the token was issued for.`)
  }
  const expiresAt = expires_at == null ? undefined : new Date(expires_at)
  if (expiresAt !== undefined && expiresAt.getTime() <= now) {
    return fail("expires_at", "expires_at must be in the future.")
  }
  return Effect.succeed({
    credential: { type: "ksef_token", token: Redacted.make(token) },
    context,
    expiresAt
  })
}

const maxPemBytes = 16_384

const paramOf: Readonly<Record<SigningCredential.CredentialError["reason"], string>> = {
  "certificate-unreadable": "certificate",
  "not-yet-valid": "certificate",
  expired: "certificate",
  "offline-certificate": "certificate",
  "authentication-certificate": "certificate",
  "key-usage": "certificate",
  "key-unreadable": "private_key",
  "key-mismatch": "private_key",
  "key-unsupported": "private_key",
  password: "private_key_password"
}

/** The caller who sends a key. */
export interface KeyFileOwner {
  readonly account: string
  /** As `ClientAddress.group` returns it. */
  readonly network: string
}

interface Network {
  readonly accounts: Slots.Slots
  /** The keys that wait or are open. */
  keys: number
}

/** How many keys of an account wait. */
export const maxKeysPerAccount = 4

const ofNetwork = { slots: 1, maxWaiting: 64, maxWaitingPerGroup: maxKeysPerAccount, maxWaitMs: Slots.turnMs }

/**
 * The order in which private keys are opened: one at a time, networks in turn, and the accounts of a network in turn.
 *
 * Anybody can make accounts, but from one network. However many accounts of a network wait, it has one key in the queue of all
 * networks, so that another network waits for one of its keys at most.
 */
interface KeyFileQueue {
  /** Runs an effect when it is its turn. Fails if too many wait: of the account, of the network, or of all. */
  readonly run: (
    owner: KeyFileOwner
  ) => <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | Slots.NoSlot, R>
}

const makeKeyFileQueue = (): KeyFileQueue => {
  // Without a maximum, which a stranger with many networks would fill. Each has one key in the queue.
  const all = Slots.make({ slots: 1, maxWaiting: Infinity, maxWaitingPerGroup: 1, maxWaitMs: Slots.turnMs })
  const networks = new Map<string, Network>()

  const enter = (name: string) =>
    Effect.sync(() => {
      const network = networks.get(name) ?? { accounts: Slots.make(ofNetwork), keys: 0 }
      networks.set(name, network)
      network.keys++
      return network
    })

  return {
    run: (owner) => (effect) => {
      const name = SlidingWindows.widerNetworks(owner.network)?.[48] ?? owner.network
      return Effect.acquireUseRelease(
        enter(name),
        ({ accounts }) => accounts.run(owner.account)(all.run(name)(effect)),
        (network) => Effect.sync(() => void (--network.keys === 0 && networks.delete(name)))
      )
    }
  }
}

// Opening an encrypted key can take seconds of a thread, and signing with an RSA key whose numbers do not match 20 ms. One at a time
// leaves the others to logins and lookups. A thread cannot be interrupted, so that a request that times out has to wait for its own.
const opening = makeKeyFileQueue()

const checkCertificate = (
  request: typeof GatewayCredential.CertificateCredential.Type,
  owner: KeyFileOwner,
  now: number
): Effect.Effect<CheckedCredential, InvalidCredential | Slots.NoSlot> =>
  Effect.map(openPair(request, owner, now, "login"), (pair) => ({
    credential: {
      type: "certificate",
      certificate: pair.certificate.toString(),
      privateKey: Redacted.make(pair.key().export({ type: "pkcs8", format: "pem" }).toString())
    },
    context: request.context,
    expiresAt: pair.certificate.validToDate
  }))

/** Opens a certificate with its key, for a purpose: both in PEM, or a PKCS#12 file in Base64. Keys are opened in turn. */
export const openPair = (
  request: OfflineCertificate.OfflineCertificateRequest,
  owner: KeyFileOwner,
  now: number,
  purpose: SigningCredential.Purpose
): Effect.Effect<SigningCredential.SigningCredential, InvalidCredential | Slots.NoSlot> => {
  const { certificate, private_key: privateKey } = request
  const isFile = privateKey === undefined || privateKey === null
  if (isFile && certificate.includes("-----BEGIN")) {
    return fail("private_key", "private_key is required for a certificate in PEM.")
  }
  if (Buffer.byteLength(certificate) + Buffer.byteLength(privateKey ?? "") > maxPemBytes) {
    return fail("certificate", "certificate and private_key must have at most 16 KiB together.")
  }
  const password = request.private_key_password ?? undefined
  const opened = Effect.uninterruptible(
    isFile
      ? SigningCredential.openPkcs12(Buffer.from(certificate, "base64"), password ?? "", now, purpose)
      : SigningCredential.open({ certificate, privateKey, password }, now, purpose)
  )
  return opening
    .run(owner)(opened)
    .pipe(Effect.catchTag("CredentialError", ({ message, reason }) => fail(paramOf[reason], message)))
}
