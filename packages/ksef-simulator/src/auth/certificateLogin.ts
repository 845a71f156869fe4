/**
 * `POST /auth/xades-signature`: a login document, signed with a certificate.
 */
import type { X509Certificate } from "node:crypto"
import { Sha256 } from "@govoice/ksef/crypto"
import { Certificate } from "@govoice/ksef/xades"
import type { Handler } from "../http/Call.ts"
import { badRequest, json } from "../http/Reply.ts"
import type { Simulation } from "../Simulation.ts"
import type { Permission, Status, Subject } from "../state/records.ts"
import { details } from "../statuses.ts"
import { type SignedLogin, verifyXades } from "../xades/verifyXades.ts"
import { addressPolicy } from "./addresses.ts"
import { begin, permissionsOf } from "./logins.ts"

/** The subject of a certificate by its fingerprint. */
export const fingerprintOf = ({ raw }: X509Certificate): Subject => ({
  type: "Fingerprint",
  value: Buffer.from(Sha256.base64(raw), "base64").toString("hex").toUpperCase()
})

const refused = (code: number, detail: string): Status => ({ code, details: [detail] })

const certificateFault = (
  { authority, clock, options, state }: Simulation,
  certificate: X509Certificate,
  verifiesChain: boolean
): Status | undefined => {
  const now = clock.now()
  if (now < Date.parse(certificate.validFrom) || now > Date.parse(certificate.validTo)) {
    return refused(460, details.certificateExpired)
  }
  if (authority.isIssuer(certificate) && state.enrollments.get(certificate.serialNumber)?.revoked === true) {
    return refused(460, details.certificateRevoked)
  }
  // A certificate of the type Offline confirms invoices, and logs nobody in.
  if (Certificate.keyUsage(certificate)?.includes("digitalSignature") === false)
    return refused(460, details.wrongCertificate)
  const mustBeTrusted = verifiesChain || options.environment !== "test"
  return mustBeTrusted && !authority.isIssuer(certificate) ? refused(460, details.untrustedChain) : undefined
}

interface Judged {
  readonly status: Status
  readonly subject: Subject
  readonly permissions: ReadonlyArray<Permission>
}

const judge = (simulation: Simulation, login: SignedLogin, verifiesChain: boolean): Judged => {
  const fingerprint = fingerprintOf(login.certificate)
  const named =
    login.subjectIdentifierType === "certificateFingerprint" ? fingerprint : Certificate.identity(login.certificate)
  const subject = named ?? fingerprint
  const fault = certificateFault(simulation, login.certificate, verifiesChain)
  if (fault !== undefined) return { status: fault, subject, permissions: [] }
  if (named === undefined) return { status: refused(460, details.wrongCertificate), subject, permissions: [] }
  const permissions = permissionsOf(simulation, login.context, named)
  return permissions.length === 0
    ? { status: refused(415, details.noPermissions), subject, permissions }
    : { status: { code: 200 }, subject, permissions }
}

/** Begins a login with a certificate. */
export const loginWithCertificate: Handler = async ({ body, query, simulation }) => {
  const bytes = body as Buffer
  const login = verifyXades(await simulation.xml(), bytes)
  if (simulation.challenges.take(login.challenge) === undefined) throw badRequest(21111)
  const { permissions, status, subject } = judge(simulation, login, query["verifyCertificateChain"] === true)
  const answer = begin(simulation, {
    contextType: login.contextType,
    context: login.context,
    method: "certificate",
    subject,
    permissions,
    tokenReference: null,
    documentHash: Sha256.base64(bytes),
    certificate: login.certificate.raw.toString("base64"),
    addresses: addressPolicy(login.allowedIps),
    status
  })
  return json(202, answer)
}
