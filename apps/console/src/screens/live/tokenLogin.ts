/**
 * When the owners of organizations that log in with a token are told that the rules provide for tokens until 2026-12-31 (Dz.U. 2025
 * poz. 1815, § 13). A copy of that of `govoice doctor`.
 */
const warnFrom = Date.parse("2026-12-01T00:00:00+01:00")

/** Returns whether an organization with such a credential is told. */
export const isTokenEnding = (type: string | null, now: number): boolean => type === "ksef_token" && now >= warnFrom
