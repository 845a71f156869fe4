/**
 * A request handler for Express 4 and 5 and compatible frameworks (Connect, NestJS on Express).
 *
 * @module
 * @since 0.1.0
 */
export { createHandler } from "./node.ts"
export type { HandlerOptions, NodeRequest, NodeResponse, OnWebhook } from "./node.ts"
