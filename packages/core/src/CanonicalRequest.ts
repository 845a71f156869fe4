/**
 * What makes two submissions the same: mode, document, metadata and effective scenario. Nothing of the way in which the
 * JSON was written counts.
 *
 * @since 0.1.0
 */
// As a default, because bundles for browsers get an empty module in its place (`browser` in package.json), and a name that
// is missing there would be warned of in every build. Nothing but `hash` uses it.
import nodeCrypto from "node:crypto"
import type { Metadata } from "./Metadata.ts"
import type { Mode } from "./Mode.ts"
import type { Scenario } from "./SandboxScenario.ts"

/**
 * A validated submission.
 *
 * @category models
 * @since 0.1.0
 */
export interface CanonicalRequest {
  readonly mode: Mode
  readonly invoiceXml: string
  readonly metadata: Metadata
  /** The effective scenario of a test submission, `null` for a live one. */
  readonly scenario: Scenario | null
}

const byCodeUnits = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/**
 * Writes the canonical form: a JSON array of mode, scenario, sorted metadata entries and the document, in this order.
 *
 * **Details**
 *
 * JSON strings escape what could be mistaken for structure, so two different requests never have the same form.
 *
 * @category constructors
 * @since 0.1.0
 */
export const canonicalForm = ({ invoiceXml, metadata, mode, scenario }: CanonicalRequest): string =>
  JSON.stringify([mode, scenario, Object.entries(metadata).sort(([a], [b]) => byCodeUnits(a, b)), invoiceXml])

/**
 * The SHA-256 (FIPS 180-4) of the canonical form in UTF-8, 32 bytes.
 *
 * **Gotchas**
 *
 * Needs `node:crypto`, so it is the one function of this package that does not run in a browser.
 *
 * @category constructors
 * @since 0.1.0
 */
export const hash = (request: CanonicalRequest): Uint8Array =>
  nodeCrypto.createHash("sha256").update(canonicalForm(request), "utf8").digest()
