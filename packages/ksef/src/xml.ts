/**
 * The strict XML parser.
 *
 * @module
 * @since 0.1.0
 */
export * as StrictXml from "./xml/StrictXml.ts"
