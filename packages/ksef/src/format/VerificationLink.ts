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
 * Returns the origin of the verification pages of an environment: `test`, `demo`, `prod`, or the base URL of another one, such as a
 * simulator, which has the pages itself.
 *
 * @category getters
 * @since 0.1.0
 */
export const originOf = (environment: string): string =>
  isPublic(environment) ? `https://${hosts[environment]}` : new URL(environment).origin

const isPublic = (environment: string): environment is keyof typeof hosts => Object.hasOwn(hosts, environment)

/**
 * The parts of a link.
 *
 * **Details**
 *
 * - `origin`: of the verification pages, as `originOf` returns it.
 * - `sellerNip`: ten digits.
 * - `issueDate`: `P_1` of the invoice, `YYYY-MM-DD`.
 * - `documentHash`: SHA-256 of the exact bytes of the invoice, in standard Base64.
 *
 * @category models
 * @since 0.1.0
 */
export interface Source {
  readonly origin: string
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
export const make = ({ documentHash, issueDate, origin, sellerNip }: Source): string => {
  const [year, month, day] = issueDate.split("-")
  const hash = documentHash.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")
  return `${origin}/invoice/${sellerNip}/${day}-${month}-${year}/${hash}`
}
