/**
 * The link behind the second QR code (KOD II) of an invoice that is issued offline: made once, in the submission, and stored with the
 * invoice, so that it does not change when the certificate is replaced.
 */
import { CertificateLink } from "@govoice/ksef/crypto"
import { ContextIdentifier, VerificationLink } from "@govoice/ksef/format"
import { Data, Effect } from "effect"
import { OfflineCertificates } from "./ksef/OfflineCertificates.ts"
import * as SandboxCertificate from "./sandbox/SandboxCertificate.ts"
import type { OrganizationSubmission } from "./SubmitInvoice.ts"

/** The organization has no certificate that signs now. */
export class OfflineNotAvailable extends Data.TaggedError("OfflineNotAvailable") {}

/** Makes the function that returns the link of a submission; `undefined` for one that is not issued offline. */
export const make = Effect.gen(function* () {
  const certificates = yield* OfflineCertificates

  return Effect.fnUntraced(function* ({ invoicingMode, mode, organizationId, summary }: OrganizationSubmission) {
    const { sellerNip, sha256: documentHash } = summary
    // `readSubmission` refuses an offline one without the tax number of the seller.
    if (invoicingMode === "online" || sellerNip === null) return undefined
    const signer =
      mode === "test"
        ? { ...SandboxCertificate.signer(), context: ContextIdentifier.ofValue(sellerNip) }
        : yield* Effect.orDie(certificates.signer(organizationId))
    if (signer === undefined) return yield* new OfflineNotAvailable()
    const { environment, key, ...issuer } = signer
    return CertificateLink.make(
      { origin: VerificationLink.originOf(environment), sellerNip, documentHash, ...issuer },
      key
    )
  })
})
