/**
 * The algorithms of XML signatures by their identifiers, as far as they are supported. SHA-1 and SHA-3, which KSeF
 * documents as well, are not.
 */
import { constants, type KeyObject } from "node:crypto"
import type * as CanonicalXml from "./CanonicalXml.ts"

/** How the value of a signature is computed. */
export interface SignatureMethod {
  readonly keyType: "rsa" | "ec"
  readonly hash: "sha256" | "sha384" | "sha512"
  /** Options that Node takes together with the key. */
  readonly options: { readonly padding?: number; readonly saltLength?: number; readonly dsaEncoding?: "ieee-p1363" }
}

export const rsaSha256 = "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"
export const ecdsaSha256 = "http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha256"
export const sha256 = "http://www.w3.org/2001/04/xmlenc#sha256"
export const envelopedSignature = "http://www.w3.org/2000/09/xmldsig#enveloped-signature"
export const exclusiveCanonicalization = "http://www.w3.org/2001/10/xml-exc-c14n#"
export const xpath = "http://www.w3.org/TR/1999/REC-xpath-19991116"

const hashes = ["sha256", "sha384", "sha512"] as const
const { RSA_PKCS1_PSS_PADDING, RSA_PSS_SALTLEN_DIGEST } = constants

export const signatureMethods: ReadonlyMap<string, SignatureMethod> = new Map(
  hashes.flatMap((hash): ReadonlyArray<[string, SignatureMethod]> => [
    [`http://www.w3.org/2001/04/xmldsig-more#rsa-${hash}`, { keyType: "rsa", hash, options: {} }],
    // ECDSA values are R and S one after the other, each as long as the order of the curve (RFC 4050, 3.3).
    [
      `http://www.w3.org/2001/04/xmldsig-more#ecdsa-${hash}`,
      { keyType: "ec", hash, options: { dsaEncoding: "ieee-p1363" } }
    ],
    [
      `http://www.w3.org/2007/05/xmldsig-more#${hash}-rsa-MGF1`,
      { keyType: "rsa", hash, options: { padding: RSA_PKCS1_PSS_PADDING, saltLength: RSA_PSS_SALTLEN_DIGEST } }
    ]
  ])
)

export const digestMethods: ReadonlyMap<string, SignatureMethod["hash"]> = new Map([
  [sha256, "sha256"],
  ["http://www.w3.org/2001/04/xmldsig-more#sha384", "sha384"],
  ["http://www.w3.org/2001/04/xmlenc#sha512", "sha512"]
])

export const canonicalizationMethods: ReadonlyMap<string, CanonicalXml.Method> = new Map(
  (
    [
      [exclusiveCanonicalization, "exclusive", "WithComments"],
      ["http://www.w3.org/TR/2001/REC-xml-c14n-20010315", "inclusive-1.0", "#WithComments"],
      ["http://www.w3.org/2006/12/xml-c14n11", "inclusive-1.1", "#WithComments"]
    ] as const
  ).flatMap(([uri, form, comments]): ReadonlyArray<[string, CanonicalXml.Method]> => [
    [uri, { form, withComments: false }],
    [`${uri}${comments}`, { form, withComments: true }]
  ])
)

/** RSA of at least 2048 bits, or a curve of at least 256: what KSeF accepts. */
export const isStrongEnough = (key: KeyObject): boolean => {
  const { modulusLength = 0, namedCurve = "" } = key.asymmetricKeyDetails ?? {}
  return key.asymmetricKeyType === "rsa" ? modulusLength >= 2048 : curves.has(namedCurve)
}

const curves: ReadonlySet<string> = new Set(["prime256v1", "secp384r1", "secp521r1"])
