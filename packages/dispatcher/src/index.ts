/**
 * Sends one HTTP request to a URL that a stranger chose, to public addresses alone.
 *
 * @module
 */
export { Dispatcher } from "./Dispatcher.ts"
export * as DispatcherMetrics from "./DispatcherMetrics.ts"
export * as ForwardProxy from "./ForwardProxy.ts"
export * from "./promise.ts"
