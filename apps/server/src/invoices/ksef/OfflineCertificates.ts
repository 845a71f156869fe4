/**
 * The certificates with which organizations issue invoices offline.
 *
 * As a credential, a certificate belongs to the environment that it was stored for. While the deployment uses another one, it
 * counts as absent. It never logs in.
 */
import type { OfflineCertificate } from "@govoice/api"
import type { Ids } from "@govoice/core"
import { ContextIdentifier } from "@govoice/ksef/format"
import { Certificate, type SigningCredential } from "@govoice/ksef/xades"
import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { createPrivateKey, type KeyObject } from "node:crypto"
import { type OrganizationNotFound, orNotFound } from "../../accounts/Organizations.ts"
import { KeyRing, KeyUnavailable } from "../../crypto/KeyRing.ts"
import { iso } from "../../database/timestamps.ts"
import { Settings } from "../../settings/Settings.ts"
import { type KeyFileOwner, openPair } from "./checkGatewayCredential.ts"

/** Checks a certificate and its key at a time in milliseconds. Encrypted keys are opened in turn. */
export const check = (request: OfflineCertificate.OfflineCertificateRequest, owner: KeyFileOwner, now: number) =>
  openPair(request, owner, now, "offline")

/** What signs the code of an invoice that is issued offline. */
export interface Signer {
  readonly environment: string
  readonly context: ContextIdentifier.ContextIdentifier
  readonly serialNumber: string
  readonly key: KeyObject
}

/** Stores, describes and opens certificates. */
export class OfflineCertificates extends Context.Service<
  OfflineCertificates,
  {
    /** Replaces the certificate of an organization. */
    readonly put: (
      accountId: Ids.AccountId,
      id: string,
      pair: SigningCredential.SigningCredential
    ) => Effect.Effect<void, OrganizationNotFound>
    /** Describes the certificate without its key. */
    readonly describe: (
      accountId: Ids.AccountId,
      id: string
    ) => Effect.Effect<OfflineCertificate.OfflineCertificate, OrganizationNotFound>
    /** Deletes the certificate of any environment. */
    readonly remove: (accountId: Ids.AccountId, id: string) => Effect.Effect<void, OrganizationNotFound>
    /** Opens the certificate, if it is valid now and the organization has a credential, whose taxpayer the code names. */
    readonly signer: (id: Ids.OrganizationId) => Effect.Effect<Signer | undefined, KeyUnavailable>
  }
>()("@govoice/server/invoices/ksef/OfflineCertificates") {}

interface Row {
  readonly environment: string | null
  readonly serial_number: string
  readonly subject: string
  readonly valid_from: Date
  readonly valid_until: Date
  readonly updated_at: Date
}

const absent: OfflineCertificate.OfflineCertificate = {
  object: "offline_certificate",
  present: false,
  environment: null,
  serial_number: null,
  subject: null,
  valid_from: null,
  valid_until: null,
  state: null,
  updated_at: null
}

const toApi = (row: Row, now: number): OfflineCertificate.OfflineCertificate => ({
  object: "offline_certificate",
  present: true,
  environment: row.environment,
  serial_number: row.serial_number,
  subject: row.subject,
  valid_from: iso(row.valid_from),
  valid_until: iso(row.valid_until),
  state: row.valid_until.getTime() < now ? "expired" : "valid",
  updated_at: iso(row.updated_at)
})

/** Provides `OfflineCertificates` from a migrated database, for the environment of the settings. */
export const layer: Layer.Layer<OfflineCertificates, never, SqlClient.SqlClient | KeyRing | Settings> = Layer.effect(
  OfflineCertificates,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const keyRing = yield* KeyRing
    const environment = (yield* Settings).ksef.environmentId ?? null

    const upsert = (
      accountId: Ids.AccountId,
      id: Ids.OrganizationId,
      { certificate }: SigningCredential.SigningCredential,
      sealed: Uint8Array
    ) => sql`
      INSERT INTO offline_certificates
        (id, updated_at, valid_from, valid_until, environment, serial_number, subject, private_key)
      SELECT id, date_trunc('milliseconds', now()), ${certificate.validFromDate}::timestamptz,
             ${certificate.validToDate}::timestamptz, ${environment}::text, ${certificate.serialNumber}::text,
             ${Certificate.formatName(Certificate.subject(certificate))}::text, ${sealed}::bytea
      FROM organizations WHERE account_id = ${accountId} AND id = ${id}
      ON CONFLICT (id) DO UPDATE SET
        updated_at = excluded.updated_at, valid_from = excluded.valid_from, valid_until = excluded.valid_until,
        environment = excluded.environment, serial_number = excluded.serial_number, subject = excluded.subject,
        private_key = excluded.private_key, told = excluded.told
      RETURNING id
    `

    const selectDescription = (accountId: Ids.AccountId, id: Ids.OrganizationId) => sql<
      Row & { readonly present: boolean }
    >`
      SELECT certificate.id IS NOT NULL AS present, environment, serial_number, subject, valid_from, valid_until, updated_at
      FROM organizations
      LEFT JOIN offline_certificates AS certificate
        ON certificate.id = organizations.id AND environment IS NOT DISTINCT FROM ${environment}::text
      WHERE account_id = ${accountId} AND organizations.id = ${id}
    `

    const deleteOne = (accountId: Ids.AccountId, id: Ids.OrganizationId) => sql`
      WITH removed AS (
        DELETE FROM offline_certificates
        WHERE id = (SELECT id FROM organizations WHERE account_id = ${accountId} AND id = ${id})
      )
      SELECT id FROM organizations WHERE account_id = ${accountId} AND id = ${id}
    `

    const selectSigner = (id: Ids.OrganizationId) => sql<{
      readonly serial_number: string
      readonly private_key: Uint8Array
      readonly credential_context: string
    }>`
      SELECT serial_number, private_key, credential_context
      FROM offline_certificates AS certificate JOIN organizations USING (id)
      WHERE id = ${id} AND now() BETWEEN valid_from AND valid_until
        AND environment IS NOT DISTINCT FROM ${environment}::text
        AND credential_context IS NOT NULL AND credential_environment IS NOT DISTINCT FROM ${environment}::text
    `

    return {
      put: Effect.fn("OfflineCertificates.put")(function* (accountId, id, pair) {
        const key = pair.key().export({ type: "pkcs8", format: "pem" }).toString()
        const sealed = keyRing.seal(key, { column: "offline_certificates.private_key", row: id })
        yield* orNotFound(id, (valid) => upsert(accountId, valid, pair, sealed))
      }),

      describe: Effect.fn("OfflineCertificates.describe")(function* (accountId, id) {
        const row = yield* orNotFound(id, (valid) => selectDescription(accountId, valid))
        return row.present ? toApi(row, yield* Clock.currentTimeMillis) : absent
      }),

      remove: Effect.fn("OfflineCertificates.remove")(function* (accountId, id) {
        yield* orNotFound(id, (valid) => deleteOne(accountId, valid))
      }),

      signer: Effect.fn("OfflineCertificates.signer")(function* (id) {
        const [row] = environment === null ? [] : yield* Effect.orDie(selectSigner(id))
        if (environment === null || row === undefined) return undefined
        const key = yield* Effect.try({
          try: () => keyRing.open(row.private_key, { column: "offline_certificates.private_key", row: id }),
          catch: (error) => error
        }).pipe(Effect.catch((error) => (error instanceof KeyUnavailable ? Effect.fail(error) : Effect.die(error))))
        return {
          environment,
          context: ContextIdentifier.ofValue(row.credential_context),
          serialNumber: row.serial_number,
          key: createPrivateKey(key)
        }
      })
    }
  })
)

/** How many certificates of an environment cannot sign any more, or not for much longer. */
export interface CertificateCounts {
  /** Within 30 days, or before. */
  readonly expiring: number
  readonly expiring_example: string | null
}

/** Counts the certificates of an environment. */
export const count = (environment: string): Effect.Effect<CertificateCounts, SqlError.SqlError, SqlClient.SqlClient> =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [row] = yield* sql<CertificateCounts>`
      SELECT count(*)::int AS expiring, min(id) AS expiring_example FROM offline_certificates
      WHERE environment = ${environment} AND valid_until < now() + interval '30 days'
    `
    return row!
  })
