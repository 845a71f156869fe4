/**
 * The record of the credential of an organization for the national system, without its secrets.
 *
 * @since 0.1.0
 */
import { Timestamp } from "@govoice/core"
import * as Schema from "effect/Schema"

/**
 * The kind of a credential.
 *
 * @category models
 * @since 0.1.0
 */
export const Type = Schema.Literals(["ksef_token", "certificate"]).annotate({
  identifier: "GatewayCredentialType",
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
  identifier: "GatewayCredentialState",
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
  context_nip: Schema.NullOr(Schema.String).annotate({
    description: "The NIP of the taxpayer whose invoices are submitted."
  }),
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
