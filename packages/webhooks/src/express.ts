/**
 * A request handler for Express 4 and 5, and for what is built like it (Connect, NestJS on Express).
 *
 * @module
 */
export { createHandler } from "./node.ts"
export type { HandlerOptions, NodeRequest, NodeResponse, OnWebhook } from "./node.ts"
