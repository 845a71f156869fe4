/**
 * The codes of live mode, and the statuses of KSeF that lead to them, as tables for the owner of an invoice or of a credential.
 * A new code does not compile without its line.
 */
import { InvoiceStatuses, type LoginStatuses } from "../packages/ksef/src/protocol.ts"
import { code, table } from "./blocks.ts"

/** The meaning of a code, and its remedy. */
interface Line {
  readonly means: string
  readonly remedy: string
}

type RejectionCode = Exclude<
  InvoiceStatuses.InvoiceCode,
  "national_system_error" | "duplicate_unresolved" | "unknown_verdict"
>

const rejections: Readonly<Record<RejectionCode, Line>> = {
  invalid_document: {
    means: "The document breaks the schema or another rule of KSeF. The message has the details of KSeF.",
    remedy:
      "Correct the document, and submit it as a new invoice. [Checking invoices](./checking-invoices.md) finds most faults before."
  },
  duplicate_invoice: {
    means: "KSeF has accepted an invoice with this seller, kind and number before. The message has its KSeF number.",
    remedy: "Nothing, if that is the same invoice. Otherwise, give this one its own number, and submit it again."
  },
  seller_not_permitted: {
    means: "The context of the credential is of another taxpayer, who has no permission of the seller.",
    remedy:
      "Check `Podmiot1` and the `context` of the credential. For self-billing, have the seller grant the permission in KSeF."
  },
  attachment_not_allowed: {
    means: "The document has an attachment, and the taxpayer has not registered for sending attachments.",
    remedy: "Register with the tax administration, or remove the attachment, and submit it again."
  },
  correction_refused: {
    means:
      "KSeF refuses the technical correction: the invoice that it corrects was accepted, or has an accepted correction.",
    remedy: "Look up in KSeF which of the two it is. Send nothing else."
  },
  file_refused: {
    means: "KSeF received a file whose size or hash it does not accept, or which begins with a byte order mark.",
    remedy:
      "Save the document in UTF-8 without a byte order mark, and submit it again. If it is refused again, report a defect with the identifier of the invoice."
  }
}

/** Every value of `failure.code` of a live invoice. */
export const failures = {
  gateway_unavailable: {
    means: "KSeF could not be reached, or did not process requests.",
    remedy: "Wait while the invoice is `retrying`. After it `failed`, submit it again: KSeF never received it."
  },
  gateway_blocked: {
    means: "KSeF or its firewall blocks the requests of this taxpayer.",
    remedy: "Ask the help desk of KSeF why. The invoice is sent when the block ends."
  },
  gateway_limit: {
    means: "KSeF's limits for this taxpayer are used up, or other invoices are sent first.",
    remedy: "Nothing. The invoice is sent as the limits allow."
  },
  gateway_protocol_error: {
    means: "KSeF refused a request as malformed. The document is not the reason.",
    remedy: "Report a defect with the identifier of the invoice, then submit it again."
  },
  gateway_credential_missing: {
    means: "The organization has no credential for the environment of the deployment.",
    remedy: "Store one. The invoice is sent within seconds."
  },
  gateway_credential_refused: {
    means: "KSeF refuses the credential of the organization. The message has the reason.",
    remedy: "Read the `refusal` of the credential, act on it as below, and store a new one."
  },
  gateway_session_unreadable: {
    means: "KSeF does not show the session of the invoice to the credential.",
    remedy: "Nothing. After an hour, the invoice is sent once more, and the answer names the number of the first."
  },
  national_system_error: {
    means:
      "KSeF received the invoice and ended with an internal error. It is sent again; it fails after six times, or if it could not be sent again for a week.",
    remedy:
      "Wait until the invoice `failed`, then submit it again later. If KSeF accepted one of the earlier ones after all, the answer names its number."
  },
  duplicate_unresolved: {
    means:
      "KSeF names an accepted invoice or technical correction as the original, and does not let the credential read it for a comparison. It is tried for a day.",
    remedy:
      "Compare the invoice of the number in the message, or the correction that KSeF has. Grant the credential `InvoiceRead`, so that this is decided by itself."
  },
  unknown_verdict: {
    means:
      "KSeF gave a status that it does not document. Unless the operator decided that the invoice failed, it waits for another.",
    remedy: "Look the invoice up in KSeF before you submit it again."
  }
} as const satisfies Readonly<Record<string, Line>>

const refusals: Readonly<Record<LoginStatuses.CredentialCode, Line>> = {
  credential_invalid: {
    means: "KSeF does not know the credential, or refuses it for every context.",
    remedy: "Copy the token again, complete with its separators, or create a new one in KSeF."
  },
  credential_revoked: {
    means: "The token was revoked in KSeF.",
    remedy: "Create a new token or certificate, and store it."
  },
  credential_inactive: {
    means: "The token is not active yet.",
    remedy: "Wait a few minutes: KSeF activates new tokens. If it stays so, create a new one."
  },
  credential_of_another_context: {
    means: "The credential does not belong to its `context`.",
    remedy: "Store it with the `context` that it was issued for, or was granted permissions in."
  },
  credential_without_rights: {
    means: "The credential may not send invoices of this taxpayer.",
    remedy:
      "Grant its owner `InvoiceWrite` in KSeF. The rights of a token are fixed when it is created: create a new one."
  },
  wrong_environment_or_key: {
    means: "KSeF could not decrypt the token: it is of another environment, or damaged.",
    remedy: "Store a credential of the environment that `GET …/gateway-credential` names."
  },
  certificate_refused: {
    means: "KSeF refuses the certificate: it expired, was revoked, or its issuer is not trusted.",
    remedy: "Request a new certificate of the type Authentication in KSeF, and store it."
  },
  context_blocked: {
    means: "KSeF blocked the taxpayer because of a suspected security incident.",
    remedy: "Contact the help desk of KSeF. The login is tried again every six hours."
  },
  token_login_refused: {
    means: "KSeF no longer accepts logins by token, or not from this taxpayer.",
    remedy: "Request a certificate of the type Authentication in KSeF, and store it."
  }
}

const lines = (codes: Readonly<Record<string, Line>>): string =>
  table(
    ["code", "meaning", "remedy"],
    Object.entries(codes).map(([name, { means, remedy }]) => [code(name), means, remedy])
  )

const invoiceActions: Readonly<Record<InvoiceStatuses.InvoiceAction, string>> = {
  poll: "asks again later, for as long as it takes",
  accept: "the invoice is `accepted`",
  reject: "the invoice is `rejected`",
  resend: "sends the same document again after 1 min, 5 min, 30 min, 2 h and 8 h",
  "send-in-batch": "sends it in a batch once, if it was not in one; then the invoice is `rejected`",
  "resolve-duplicate": "finds out whether the original is an earlier submission of the same invoice",
  park: "keeps asking; an operator decides"
}

const codes = (names: ReadonlyArray<string>): string => (names.length === 0 ? "–" : names.map(code).join(", "))

/** The tables by the name of their block. */
export const blocks: Readonly<Record<string, string>> = {
  "rejection codes": lines(rejections),
  "failure codes": lines(failures),
  "credential codes": lines(refusals),
  "invoice statuses of KSeF": table(
    ["status", "meaning", "Govoice", "code"],
    Object.entries(InvoiceStatuses.invoiceStatuses)
      .map(([status, { action, meaning, shown }]) => [status, meaning, invoiceActions[action], codes(shown)])
      .concat([
        ["200 without a KSeF number, any other", "not documented", invoiceActions.park, codes(["unknown_verdict"])]
      ])
  )
}
