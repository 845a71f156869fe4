/**
 * The certificate with which an organization issues invoices offline: the record, which has no secrets, and the request that
 * stores one.
 *
 * @since 0.1.0
 */
import { Timestamp } from "@govoice/core"
import * as Schema from "effect/Schema"
import * as Fields from "./Fields.ts"

/**
 * Whether a certificate can sign now.
 *
 * @category models
 * @since 0.1.0
 */
export const State = Schema.Literals(["valid", "expired"]).annotate({
  description: "`valid` until `valid_until`, then `expired`."
})

/**
 * Type of a decoded `State`.
 *
 * @category models
 * @since 0.1.0
 */
export type State = typeof State.Type

/**
 * The record of a certificate. Members other than `object` and `present` are null while none is stored for the environment of
 * the deployment.
 *
 * @category models
 * @since 0.1.0
 */
export const OfflineCertificate = Schema.Struct({
  object: Schema.Literal("offline_certificate"),
  present: Schema.Boolean.annotate({
    description:
      "Whether a certificate is stored for the environment of the deployment. Otherwise, the other members are null."
  }),
  environment: Schema.NullOr(Schema.String).annotate({
    description: "The environment of the national system: `test`, `demo`, `prod`, or the URL of another one."
  }),
  serial_number: Schema.NullOr(Schema.String).annotate({
    description: "The serial number, in the hexadecimal digits that the second QR code contains."
  }),
  subject: Schema.NullOr(Schema.String).annotate({
    description: "The name of the subject, as RFC 4514 has it: `CN=Example,O=Example,C=PL`."
  }),
  valid_from: Schema.NullOr(Timestamp.Timestamp),
  valid_until: Schema.NullOr(Timestamp.Timestamp),
  state: Schema.NullOr(State),
  updated_at: Schema.NullOr(Timestamp.Timestamp).annotate({ description: "The time at which it was stored." })
}).annotate({
  identifier: "OfflineCertificate",
  description:
    "The certificate with which an organization issues invoices offline. No response contains its private key."
})

/**
 * Type of a decoded `OfflineCertificate`.
 *
 * @category models
 * @since 0.1.0
 */
export type OfflineCertificate = typeof OfflineCertificate.Type

/**
 * The request that stores a certificate.
 *
 * @category models
 * @since 0.1.0
 */
export const OfflineCertificateRequest = Schema.Struct({
  certificate: Fields.pem(
    "The KSeF certificate of the type Offline, in PEM, or in Base64 a PKCS#12 file that has its private key, too. Its key usage is non-repudiation. At most 16 KiB together with the key."
  ),
  private_key: Schema.optionalKey(
    Schema.NullOr(Fields.pem("Text in PEM.", "password")).annotate({
      description: "The private key in PEM: RSA of 2048 bits, or EC on the curve P-256. Left out for a PKCS#12 file."
    })
  ),
  private_key_password: Fields.privateKeyPassword
}).annotate({
  identifier: "OfflineCertificateRequest",
  description: "The certificate to store, with its private key. No response contains the key."
})

/**
 * Type of a decoded `OfflineCertificateRequest`.
 *
 * @category models
 * @since 0.1.0
 */
export type OfflineCertificateRequest = typeof OfflineCertificateRequest.Type
