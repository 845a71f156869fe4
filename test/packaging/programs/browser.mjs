/** What a page or a worker at the edge would bundle. It leaves its exports for the test to call. */
export { createClient, isApiError } from "@govoice/client"
export { createVerifier, signedHeaders } from "@govoice/webhooks"
