/**
 * The algorithms that KSeF takes in signatures.
 */
import { constants, createHash, type KeyObject, verify } from "node:crypto"
import type { Canonicalization } from "../documents/Xml.ts"

/** A digest by its address, or `undefined` where it is not taken. SHA-1 is not. */
export const digestOf = (algorithm: string, bytes: Uint8Array | string): Buffer | undefined => {
  const name = digests.get(algorithm)
  return name === undefined ? undefined : createHash(name).update(bytes).digest()
}

const digests: ReadonlyMap<string, string> = new Map([
  ["http://www.w3.org/2001/04/xmlenc#sha256", "sha256"],
  ["http://www.w3.org/2001/04/xmldsig-more#sha384", "sha384"],
  ["http://www.w3.org/2001/04/xmlenc#sha512", "sha512"]
])

/** A canonical form by its address, or `undefined` where it is not taken. */
export const canonicalizationOf = (algorithm: string): Canonicalization["mode"] | undefined =>
  canonicalizations.get(algorithm.replace(/#?WithComments$/, ""))

const canonicalizations: ReadonlyMap<string, Canonicalization["mode"]> = new Map([
  ["http://www.w3.org/TR/2001/REC-xml-c14n-20010315", "inclusive-1.0"],
  ["http://www.w3.org/2006/12/xml-c14n11", "inclusive-1.1"],
  ["http://www.w3.org/2001/10/xml-exc-c14n#", "exclusive"],
  ["http://www.w3.org/2001/10/xml-exc-c14n", "exclusive"]
])

interface SignatureMethod {
  readonly hash: string
  readonly key: "rsa" | "ec"
  /** Options that Node takes together with the key. */
  readonly options: { readonly padding?: number; readonly saltLength?: number; readonly dsaEncoding?: "ieee-p1363" }
}

const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_AUTO }

const more = "http://www.w3.org/2001/04/xmldsig-more#"
const newer = "http://www.w3.org/2007/05/xmldsig-more#"

const methods: ReadonlyMap<string, SignatureMethod> = new Map(
  ["sha256", "sha384", "sha512"].flatMap((hash): ReadonlyArray<[string, SignatureMethod]> => [
    [`${more}rsa-${hash}`, { hash, key: "rsa", options: {} }],
    [`${newer}${hash}-rsa-MGF1`, { hash, key: "rsa", options: pss }],
    [`${more}ecdsa-${hash}`, { hash, key: "ec", options: { dsaEncoding: "ieee-p1363" } }]
  ])
)

/** RSA of at least 2048 bits, or a curve of at least 256. */
export const isStrong = (key: KeyObject): boolean =>
  key.asymmetricKeyType === "rsa"
    ? (key.asymmetricKeyDetails?.modulusLength ?? 0) >= 2048
    : ["prime256v1", "secp384r1", "secp521r1"].includes(key.asymmetricKeyDetails?.namedCurve ?? "")

/** Whether a signature over text is right, by an algorithm and a key that are taken. ECDSA is the pair R and S. */
export const isSignature = (algorithm: string, key: KeyObject, text: string, value: Buffer): boolean => {
  const method = methods.get(algorithm)
  if (method === undefined || key.asymmetricKeyType !== method.key) return false
  // Unlike an object of `createVerify`, `verify` answers false to a value of the wrong length.
  return verify(method.hash, Buffer.from(text, "utf8"), { key, ...method.options }, value)
}
