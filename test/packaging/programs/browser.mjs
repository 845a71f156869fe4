/** The program of a page or an edge worker. The test calls its exports. */
export { createClient, isApiError } from "@govoice/client"
export { createVerifier, signedHeaders } from "@govoice/webhooks"
