/**
 * The data of a login document, `AuthTokenRequest` 2.0 and 2.1. Its signature is verified elsewhere, and verified first.
 *
 * @since 0.1.0
 */
import * as XmlValues from "./XmlValues.ts"

/**
 * The statements of a login document.
 *
 * **Details**
 *
 * - `context`: the taxpayer by one of the identifiers that KSeF knows, such as `Nip`.
 * - `subjectIdentifierType`: `certificateSubject` or `certificateFingerprint`.
 *
 * @category models
 * @since 0.1.0
 */
export interface AuthTokenRequest {
  readonly version: "2.0" | "2.1"
  readonly challenge: string
  readonly context: { readonly type: string; readonly value: string }
  readonly subjectIdentifierType: string
}

/**
 * Reads a login document, or returns `undefined` where the text is none.
 *
 * @category parsing
 * @since 0.1.0
 */
export const read = (xml: string): AuthTokenRequest | undefined => {
  const root = XmlValues.read(xml)
  const version = root?.name === "AuthTokenRequest" ? versions.get(root.namespace) : undefined
  if (root === undefined || version === undefined) return undefined
  const challenge = XmlValues.text(root, "Challenge")
  const [context] = XmlValues.all(root, "ContextIdentifier")[0]?.children ?? []
  const subjectIdentifierType = XmlValues.text(root, "SubjectIdentifierType")
  if (challenge === undefined || context === undefined || subjectIdentifierType === undefined) return undefined
  return {
    version,
    challenge: XmlValues.collapsed(challenge),
    context: { type: context.name, value: XmlValues.collapsed(context.text) },
    subjectIdentifierType: XmlValues.collapsed(subjectIdentifierType)
  }
}

const versions: ReadonlyMap<string, AuthTokenRequest["version"]> = new Map([
  ["http://ksef.mf.gov.pl/auth/token/2.0", "2.0"],
  ["http://ksef.mf.gov.pl/auth/token/2.1", "2.1"]
])
