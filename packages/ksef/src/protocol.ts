/**
 * The answers of KSeF and their meaning: schemas of the answers, tables of statuses and error codes.
 *
 * The tables are data. The gateway makes the decisions that depend on earlier calls, such as how often something was tried.
 *
 * @module
 * @since 0.1.0
 */
export * as ErrorCodes from "./protocol/ErrorCodes.ts"
export * as FormCode from "./protocol/FormCode.ts"
export * as InvoiceStatuses from "./protocol/InvoiceStatuses.ts"
export * as LimitAnswers from "./protocol/LimitAnswers.ts"
export * as LoginAnswers from "./protocol/LoginAnswers.ts"
export * as LoginStatuses from "./protocol/LoginStatuses.ts"
export * as Operation from "./protocol/Operation.ts"
export * as Problem from "./protocol/Problem.ts"
export * as SessionAnswers from "./protocol/SessionAnswers.ts"
export * as SessionStatuses from "./protocol/SessionStatuses.ts"
export * as SystemWarning from "./protocol/SystemWarning.ts"
