/**
 * The canonical form of a submission and its hash: mode, document, metadata, invoicing mode and effective scenario. Whitespace and
 * member order of the JSON do not count.
 *
 * @since 0.1.0
 */
import type { InvoicingMode } from "./Invoice.ts"
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
  readonly invoicingMode: InvoicingMode
  /** The invoice that this one corrects technically, if any. */
  readonly correctsInvoiceId?: string | undefined
}

const byCodeUnits = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/**
 * Returns the canonical form: a JSON array of mode, scenario, invoicing mode, sorted metadata entries and the document, in this
 * order, and for a technical correction the identifier of the other invoice.
 *
 * **Details**
 *
 * JSON escapes structural characters in strings, so two different requests never have the same form.
 *
 * @category constructors
 * @since 0.1.0
 */
export const canonicalForm = ({
  correctsInvoiceId,
  invoiceXml,
  invoicingMode,
  metadata,
  mode,
  scenario
}: CanonicalRequest): string =>
  JSON.stringify([
    mode,
    scenario,
    invoicingMode,
    Object.entries(metadata).sort(([a], [b]) => byCodeUnits(a, b)),
    invoiceXml,
    ...(correctsInvoiceId === undefined ? [] : [correctsInvoiceId])
  ])

/**
 * Returns the SHA-256 (FIPS 180-4) of the canonical form in UTF-8. The caller supplies the hash function.
 *
 * **Example** (Hashing on Node)
 *
 * ```ts import.meta.vitest
 * import { CanonicalRequest } from "@govoice/core"
 * import { createHash } from "node:crypto"
 *
 * const sha256 = (text: string) => createHash("sha256").update(text).digest()
 *
 * CanonicalRequest.hash(
 *   { mode: "live", invoiceXml: "<a/>", metadata: {}, scenario: null, invoicingMode: "online" },
 *   sha256
 * ).length // => 32
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const hash = (request: CanonicalRequest, sha256: (utf8: string) => Uint8Array): Uint8Array =>
  sha256(canonicalForm(request))
