/**
 * The algorithms that KSeF takes in signatures.
 */
import { constants, createHash, createVerify, type KeyObject } from "node:crypto"
import type { Canonicalization } from "../documents/Xml.ts"

/** A digest by its address, or `undefined` where it is not taken. SHA-1 is not. */
export const digestOf = (algorithm: string, bytes: Uint8Array | string): Buffer | undefined => {
  const name = digests[algorithm]
  return name === undefined ? undefined : createHash(name).update(bytes).digest()
}

const digests: Readonly<Record<string, string>> = {
  "http://www.w3.org/2001/04/xmlenc#sha256": "sha256",
  "http://www.w3.org/2001/04/xmldsig-more#sha384": "sha384",
  "http://www.w3.org/2001/04/xmlenc#sha512": "sha512"
}

/** A canonical form by its address, or `undefined` where it is not taken. */
export const canonicalizationOf = (algorithm: string): Canonicalization["mode"] | undefined =>
  canonicalizations[algorithm.replace(/#?WithComments$/, "")]

const canonicalizations: Readonly<Record<string, Canonicalization["mode"]>> = {
  "http://www.w3.org/TR/2001/REC-xml-c14n-20010315": "inclusive-1.0",
  "http://www.w3.org/2006/12/xml-c14n11": "inclusive-1.1",
  "http://www.w3.org/2001/10/xml-exc-c14n#": "exclusive",
  "http://www.w3.org/2001/10/xml-exc-c14n": "exclusive"
}

interface SignatureMethod {
  readonly hash: string
  readonly key: "rsa" | "ec"
  readonly pss?: true
}

const more = "http://www.w3.org/2001/04/xmldsig-more#"
const newer = "http://www.w3.org/2007/05/xmldsig-more#"

const methods: Readonly<Record<string, SignatureMethod>> = Object.fromEntries(
  ["sha256", "sha384", "sha512"].flatMap((hash): ReadonlyArray<[string, SignatureMethod]> => [
    [`${more}rsa-${hash}`, { hash, key: "rsa" }],
    [`${newer}${hash}-rsa-MGF1`, { hash, key: "rsa", pss: true }],
    [`${more}ecdsa-${hash}`, { hash, key: "ec" }]
  ])
)

const isStrong = (key: KeyObject): boolean =>
  key.asymmetricKeyType === "rsa"
    ? (key.asymmetricKeyDetails?.modulusLength ?? 0) >= 2048
    : ["prime256v1", "secp384r1", "secp521r1"].includes(key.asymmetricKeyDetails?.namedCurve ?? "")

/** Whether a signature over text is right, by an algorithm and a key that are taken. ECDSA is the pair R and S. */
export const isSignature = (algorithm: string, key: KeyObject, text: string, value: Buffer): boolean => {
  const method = methods[algorithm]
  if (method === undefined || key.asymmetricKeyType !== method.key || !isStrong(key)) return false
  const verifier = createVerify(method.hash).update(text, "utf8")
  if (method.key === "ec") return verifier.verify({ key, dsaEncoding: "ieee-p1363" }, value)
  return method.pss === true
    ? verifier.verify(
        { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_AUTO },
        value
      )
    : verifier.verify(key, value)
}
