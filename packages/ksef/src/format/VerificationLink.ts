/**
 * The link behind the QR code KOD I, with which anybody can check an invoice at KSeF. Source: kody-qr.md of
 * CIRFMF/ksef-api.
 *
 * @since 0.1.0
 */

/**
 * The hosts of the verification pages, by environment.
 *
 * @category constants
 * @since 0.1.0
 */
export const hosts = {
  test: "qr-test.ksef.mf.gov.pl",
  demo: "qr-demo.ksef.mf.gov.pl",
  prod: "qr.ksef.mf.gov.pl"
} as const

/**
 * The parts of a link.
 *
 * **Details**
 *
 * - `sellerNip`: ten digits.
 * - `issueDate`: `P_1` of the invoice, `YYYY-MM-DD`.
 * - `documentHash`: SHA-256 of the exact bytes of the invoice, in standard Base64.
 *
 * @category models
 * @since 0.1.0
 */
export interface Source {
  readonly environment: keyof typeof hosts
  readonly sellerNip: string
  readonly issueDate: string
  readonly documentHash: string
}

/**
 * Builds the link of an invoice.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = ({ documentHash, environment, issueDate, sellerNip }: Source): string => {
  const [year, month, day] = issueDate.split("-")
  const hash = documentHash.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")
  return `https://${hosts[environment]}/invoice/${sellerNip}/${day}-${month}-${year}/${hash}`
}
