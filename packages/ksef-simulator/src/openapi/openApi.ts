/**
 * The document with what is made of it, once for all simulators of a process.
 */
import { type Document, readDocument } from "./document.ts"
import { Router } from "./Router.ts"
import { Validator } from "./Validator.ts"

/** The document, and its readers. */
export interface OpenApi {
  readonly document: Document
  readonly router: Router
  readonly validator: Validator
}

let made: OpenApi | undefined

/** Reads the document, or returns what was read before. */
export const openApi = (): OpenApi => {
  if (made === undefined) {
    const document = readDocument()
    made = { document, router: new Router(document), validator: new Validator(document) }
  }
  return made
}
