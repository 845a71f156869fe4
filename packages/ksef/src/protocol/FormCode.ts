/**
 * The forms of invoices: how sessions name them, and how documents do.
 *
 * @since 0.1.0
 */

/**
 * One form.
 *
 * **Details**
 *
 * - `systemCode`, `schemaVersion`: also the attributes `kodSystemowy` and `wersjaSchemy` of a document.
 * - `namespace`: of the root element of a document.
 *
 * @category models
 * @since 0.1.0
 */
export interface FormCode {
  readonly systemCode: string
  readonly schemaVersion: string
  readonly value: string
  readonly namespace: string
}

/**
 * The forms that can be sent. `FA (2)` is accepted by the test environment only.
 *
 * @category constants
 * @since 0.1.0
 */
export const formCodes = {
  "FA (3)": {
    systemCode: "FA (3)",
    schemaVersion: "1-0E",
    value: "FA",
    namespace: "http://crd.gov.pl/wzor/2025/06/25/13775/"
  },
  "FA_RR (1)": {
    systemCode: "FA_RR (1)",
    schemaVersion: "1-1E",
    value: "FA_RR",
    namespace: "http://crd.gov.pl/wzor/2026/03/06/14189/"
  },
  "FA (2)": {
    systemCode: "FA (2)",
    schemaVersion: "1-0E",
    value: "FA",
    namespace: "http://crd.gov.pl/wzor/2023/06/29/12648/"
  }
} as const satisfies Readonly<Record<string, FormCode>>
