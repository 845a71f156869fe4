/**
 * Issues a certificate, and grants its owner what it needs in a context.
 */
import { X509Certificate } from "node:crypto"
import { ContextIdentifier } from "@govoice/ksef/format"
import type { CertificateRequest, IssuedCertificate } from "../keys/Authority.ts"
import type { Simulation } from "../Simulation.ts"
import { permissions } from "../state/records.ts"
import { fingerprintOf } from "./certificateLogin.ts"
import { grant } from "./logins.ts"

/** Issues a certificate. In the context of the request, its owner has all permissions from then on. */
export const issueCertificate = (
  simulation: Simulation,
  { context, ...request }: CertificateRequest
): IssuedCertificate => {
  const issued = simulation.authority.issue(request)
  if (context !== undefined) {
    // KSeF grants permissions in a context with an entity of the EU by fingerprint alone.
    const subject =
      ContextIdentifier.ofValue(context).type === "NipVatUe"
        ? fingerprintOf(new X509Certificate(issued.certificate))
        : ({ type: "Nip", value: request.nip } as const)
    grant(simulation, context, subject, permissions)
  }
  return issued
}
