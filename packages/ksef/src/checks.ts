/**
 * Checks of invoice documents before they are sent, and the sentences that say what is wrong with one.
 *
 * @module
 * @since 0.1.0
 */
export * as DocumentChecker from "./checks/DocumentChecker.ts"
export * as Violation from "./checks/Violation.ts"
