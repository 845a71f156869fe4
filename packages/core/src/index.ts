/**
 * The domain of Govoice.
 *
 * @module
 */
export * as CanonicalRequest from "./CanonicalRequest.ts"
export * as DeliveryState from "./DeliveryState.ts"
export * as ErrorCatalog from "./ErrorCatalog.ts"
export * as Ids from "./Ids.ts"
export * as Invoice from "./Invoice.ts"
export * as InvoiceEvent from "./InvoiceEvent.ts"
export * as InvoiceState from "./InvoiceState.ts"
export * as InvoiceXml from "./InvoiceXml.ts"
export * as Metadata from "./Metadata.ts"
export * as Mode from "./Mode.ts"
export * as SandboxScenario from "./SandboxScenario.ts"
export * as Text from "./Text.ts"
export * as Timestamp from "./Timestamp.ts"
