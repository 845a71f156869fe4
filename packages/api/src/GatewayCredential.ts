/**
 * The credential of an organization for the national system: the record, which has no secrets, and the request that stores one.
 *
 * @since 0.1.0
 */
import { Timestamp } from "@govoice/core"
import * as Schema from "effect/Schema"
import * as Fields from "./Fields.ts"

/**
 * The kind of a credential.
 *
 * @category models
 * @since 0.1.0
 */
export const Type = Schema.Literals(["ksef_token", "certificate"]).annotate({
  description: "The kind of a credential: a KSeF token, or a KSeF certificate with its private key."
})

/**
 * Type of a decoded `Type`.
 *
 * @category models
 * @since 0.1.0
 */
export type Type = typeof Type.Type

/**
 * Whether the national system accepted a credential.
 *
 * @category models
 * @since 0.1.0
 */
export const State = Schema.Literals(["unchecked", "accepted", "refused"]).annotate({
  description:
    "`unchecked` until the first login with the credential, then `accepted` or `refused` by the national system."
})

/**
 * Type of a decoded `State`.
 *
 * @category models
 * @since 0.1.0
 */
export type State = typeof State.Type

/**
 * The record of a credential. Members other than `object` and `present` are null while none is stored for the environment of
 * the deployment.
 *
 * @category models
 * @since 0.1.0
 */
export const GatewayCredential = Schema.Struct({
  object: Schema.Literal("gateway_credential"),
  present: Schema.Boolean.annotate({
    description:
      "Whether a credential is stored for the environment of the deployment. Otherwise, the other members are null."
  }),
  type: Schema.NullOr(Type),
  context: Schema.NullOr(Fields.context),
  environment: Schema.NullOr(Schema.String).annotate({
    description: "The environment of the national system: `test`, `demo`, `prod`, or the URL of another one."
  }),
  expires_at: Schema.NullOr(Timestamp.Timestamp).annotate({
    description: "The time at which the credential expires. Null if it is not known."
  }),
  state: Schema.NullOr(State),
  checked_at: Schema.NullOr(Timestamp.Timestamp).annotate({ description: "The time of the last login with it." }),
  refusal: Schema.NullOr(Schema.Struct({ code: Schema.String, message: Schema.String })).annotate({
    description: "Why the national system refused the credential. Null unless `state` is `refused`."
  }),
  updated_at: Schema.NullOr(Timestamp.Timestamp).annotate({ description: "The time at which it was stored." })
}).annotate({
  identifier: "GatewayCredential",
  description: "The credential of an organization for the national system. No response contains its secrets."
})

/**
 * Type of a decoded `GatewayCredential`.
 *
 * @category models
 * @since 0.1.0
 */
export type GatewayCredential = typeof GatewayCredential.Type

/**
 * The request that stores a KSeF token. `type` may be left out.
 *
 * @category models
 * @since 0.1.0
 */
export const KsefTokenCredential = Schema.Struct({
  type: Schema.optionalKey(Schema.Literal("ksef_token").annotate({ message: 'must be "ksef_token" or "certificate"' })),
  token: Fields.text(1, 160, { description: "The KSeF token, complete with its separators.", format: "password" }),
  context: Fields.context,
  expires_at: Schema.optionalKey(
    Schema.NullOr(Timestamp.TimestampInput).annotate({
      description: "The time at which the token expires, ISO 8601 in UTC. Warnings are given before it.",
      examples: ["2026-12-31T22:59:59Z"]
    })
  )
}).annotate({ identifier: "KsefTokenCredential", description: "A KSeF token." })

/**
 * The request that stores a KSeF certificate with its private key.
 *
 * @category models
 * @since 0.1.0
 */
export const CertificateCredential = Schema.Struct({
  type: Schema.Literal("certificate"),
  certificate: Fields.pem(
    "The KSeF certificate of the type Authentication, in PEM. At most 16 KiB together with the key."
  ),
  private_key: Fields.pem("Its private key in PEM: RSA of 2048 to 4096 bits, or EC on the curve P-256.", "password"),
  private_key_password: Fields.privateKeyPassword,
  context: Fields.context
}).annotate({
  identifier: "CertificateCredential",
  description: "A KSeF certificate of the type Authentication, with its private key."
})

/**
 * The request that stores a credential.
 *
 * @category models
 * @since 0.1.0
 */
// A body without `type`, or with an unknown one, is decoded as the last member, so that its faults are reported.
export const GatewayCredentialRequest = Schema.Union([CertificateCredential, KsefTokenCredential]).annotate({
  identifier: "GatewayCredentialRequest",
  description: "The credential to store. No response contains its secrets."
})

/**
 * Type of a decoded `GatewayCredentialRequest`.
 *
 * @category models
 * @since 0.1.0
 */
export type GatewayCredentialRequest = typeof GatewayCredentialRequest.Type
