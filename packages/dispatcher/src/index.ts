/**
 * Sends an HTTP request to a URL chosen by a stranger, and only to public addresses.
 *
 * @module
 */
export { Dispatcher } from "./Dispatcher.ts"
export * as DispatcherMetrics from "./DispatcherMetrics.ts"
export * as ForwardProxy from "./ForwardProxy.ts"
export * from "./promise.ts"
