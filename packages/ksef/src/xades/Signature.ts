/**
 * Verifies enveloped XAdES signatures.
 *
 * Trust in the certificate, its validity in time and its revocation are the caller's to judge.
 *
 * @since 0.1.0
 */
import { hash, type KeyObject, timingSafeEqual, verify as verifyValue, type X509Certificate } from "node:crypto"
import * as Data from "effect/Data"
import * as Result from "effect/Result"
import * as StrictXml from "../xml/StrictXml.ts"
import * as algorithms from "./algorithms.ts"
import * as CanonicalXml from "./CanonicalXml.ts"
import * as Certificate from "./Certificate.ts"
import { ds, xades } from "./namespaces.ts"
import * as XmlTree from "./XmlTree.ts"

/**
 * A signature that covers the whole document and holds.
 *
 * @category models
 * @since 0.1.0
 */
export interface Verified {
  readonly certificate: X509Certificate
  /** `SigningTime`, as it was written; `undefined` where there is none. */
  readonly signingTime: string | undefined
  /** The identifier of the algorithm. */
  readonly method: string
}

/**
 * Why a document is not accepted. `code` is KSeF's: 9101 invalid document, 9102 no signature, 9103 more than one, 9105
 * invalid signature, 21115 invalid certificate.
 *
 * @category errors
 * @since 0.1.0
 */
export class SignatureError extends Data.TaggedError("SignatureError")<{
  readonly code: 9101 | 9102 | 9103 | 9105 | 21115
  readonly message: string
}> {}

/**
 * Verifies the one signature of a document: a child of the root, over the whole document and over its signed properties,
 * which have to name the certificate.
 *
 * @category verification
 * @since 0.1.0
 */
export const verify = (xml: string): Result.Result<Verified, SignatureError> => {
  const fault = StrictXml.read(xml)
  if (fault !== undefined)
    return Result.fail(new SignatureError({ code: 9101, message: `The document ${fault.message}` }))
  try {
    return Result.succeed(verified(XmlTree.parse(xml)))
  } catch (thrown) {
    if (thrown instanceof SignatureError) return Result.fail(thrown)
    throw thrown
  }
}

const refuse = (message: string, code: SignatureError["code"] = 9105): never => {
  throw new SignatureError({ code, message })
}

const verified = (document: XmlTree.Document): Verified => {
  const all = XmlTree.elements(document.root)
  const [signature, second] = all.filter(({ name, namespace }) => namespace === ds && name === "Signature")
  if (signature === undefined) return refuse("The document has no signature", 9102)
  if (second !== undefined) return refuse("The document has more than one signature", 9103)
  if (signature.parent !== document.root) return refuse("The signature is not a child of the root element")

  const signedInfo = only(signature, ds, "SignedInfo")
  const method = algorithmOf(only(signedInfo, ds, "SignatureMethod"))
  const signed = few(XmlTree.childElements(signedInfo, ds, "Reference"), "references").map((reference) =>
    resolved({ reference, document, signature, all })
  )
  if (!signed.some(({ node }) => node === document)) refuse("The signature does not cover the whole document")
  const properties = signedProperties(signature)
  if (!signed.some(({ node, type }) => node === properties && type === signedPropertiesType)) {
    refuse("The signature does not cover its signed properties")
  }
  for (const { digest, hash: algorithm, text } of signed) {
    if (!equal(hash(algorithm, text, "buffer"), digest)) refuse("A digest does not match what it was made of")
  }

  const certificate = signingCertificate(signature, properties)
  const text = CanonicalXml.write(signedInfo, canonicalization(only(signedInfo, ds, "CanonicalizationMethod")))
  checkValue({ method, text, key: certificate.publicKey, value: base64(only(signature, ds, "SignatureValue")) })
  const times = XmlTree.elements(properties).filter(
    ({ name, namespace }) => namespace === xades && name === "SigningTime"
  )
  return { certificate, signingTime: times[0] && XmlTree.textOf(times[0]).trim(), method }
}

const checkValue = (given: {
  readonly method: string
  readonly text: string
  readonly key: KeyObject
  readonly value: Buffer
}): void => {
  const algorithm = algorithms.signatureMethods.get(given.method)
  if (algorithm === undefined) return refuse(`The signature method ${given.method} is not supported`)
  if (given.key.asymmetricKeyType !== algorithm.keyType) return refuse("The signature method does not fit the key")
  if (!algorithms.isStrongEnough(given.key)) return refuse("The key of the certificate is too short", 21115)
  const { options } = algorithm
  if (!verifyValue(algorithm.hash, Buffer.from(given.text), { key: given.key, ...options }, given.value)) {
    refuse("The signature value does not match the signed text")
  }
}

interface Resolved {
  readonly node: XmlTree.Document | XmlTree.Element
  readonly type: string | undefined
  readonly text: string
  readonly hash: algorithms.SignatureMethod["hash"]
  readonly digest: Buffer
}

const resolved = (given: {
  readonly reference: XmlTree.Element
  readonly document: XmlTree.Document
  readonly signature: XmlTree.Element
  readonly all: ReadonlyArray<XmlTree.Element>
}): Resolved => {
  const { all, document, reference, signature } = given
  const uri = XmlTree.attribute(reference, "URI")
  const node = uri === "" ? document : withId(all, uri)
  // A reference without a canonicalization of its own uses Canonical XML 1.0.
  let method: CanonicalXml.Method = { form: "inclusive-1.0", withComments: false }
  let isEnveloped = false
  const [transforms] = XmlTree.childElements(reference, ds, "Transforms")
  for (const transform of transforms === undefined ? [] : XmlTree.childElements(transforms, ds, "Transform")) {
    if (isEnvelopedTransform(transform)) isEnveloped = true
    else method = canonicalization(transform)
  }
  if (node === document && !isEnveloped) refuse("The reference to the document does not leave out the signature")
  const algorithm = algorithms.digestMethods.get(algorithmOf(only(reference, ds, "DigestMethod")))
  if (algorithm === undefined) return refuse("A digest method is not supported")
  return {
    node,
    type: XmlTree.attribute(reference, "Type"),
    // References inside of a document never include its comments.
    text: CanonicalXml.write(node, { ...method, withComments: false }, isEnveloped ? signature : undefined),
    hash: algorithm,
    digest: base64(only(reference, ds, "DigestValue"))
  }
}

const withId = (all: ReadonlyArray<XmlTree.Element>, uri: string | undefined): XmlTree.Element => {
  const id = uri?.startsWith("#") === true ? uri.slice(1) : undefined
  const [element, second] = all.filter((element) => ids.some((name) => XmlTree.attribute(element, name) === id))
  if (id === undefined || id === "" || element === undefined) return refuse("A reference leads to no element")
  if (second !== undefined) return refuse("A reference leads to more than one element")
  return element
}

// Any of these can be declared as an ID in some schema, so two elements may not share a value among them.
const ids = ["Id", "ID", "id"]

const isEnvelopedTransform = (transform: XmlTree.Element): boolean => {
  const algorithm = algorithmOf(transform)
  if (algorithm !== algorithms.xpath) return algorithm === algorithms.envelopedSignature
  const [expression] = XmlTree.childElements(transform, ds, "XPath")
  const text = expression === undefined ? "" : XmlTree.textOf(expression).replaceAll(/\s/g, "")
  // The prefix is bound to the namespace of signatures wherever it is used in a document with one.
  if (!/^not\(ancestor-or-self::\w+:Signature\)$/.test(text)) refuse("An XPath transform is not supported")
  return true
}

const canonicalization = (element: XmlTree.Element): CanonicalXml.Method => {
  const algorithm = algorithmOf(element)
  const method = algorithms.canonicalizationMethods.get(algorithm)
  if (method === undefined) return refuse(`The transform ${algorithm} is not supported`)
  const [list] = XmlTree.childElements(element, algorithms.exclusiveCanonicalization, "InclusiveNamespaces")
  if (list === undefined) return method
  const prefixes = (XmlTree.attribute(list, "PrefixList") ?? "").split(/\s+/).filter(Boolean)
  return {
    ...method,
    inclusivePrefixes: few(prefixes, "prefixes in a list").map((prefix) => (prefix === "#default" ? "" : prefix))
  }
}

const signedProperties = (signature: XmlTree.Element): XmlTree.Element => {
  const found = XmlTree.childElements(signature, ds, "Object")
    .flatMap((object) => XmlTree.childElements(object, xades, "QualifyingProperties"))
    .filter((qualifying) => XmlTree.attribute(qualifying, "Target") === `#${XmlTree.attribute(signature, "Id")}`)
    .flatMap((qualifying) => XmlTree.childElements(qualifying, xades, "SignedProperties"))
  if (found.length !== 1) refuse("The signature is not XAdES: expected one set of signed properties for it")
  return found[0]!
}

/** The certificate of the key info whose digest the signed properties name. */
const signingCertificate = (signature: XmlTree.Element, properties: XmlTree.Element): X509Certificate => {
  const certs = XmlTree.elements(properties).filter(
    ({ name, namespace, parent }) =>
      namespace === xades && name === "Cert" && parent !== undefined && signingCertificates.has(parent.name)
  )
  const named = few(certs, "named certificates")
    .map((cert) => only(cert, xades, "CertDigest"))
    .map((digest) => ({
      hash: algorithms.digestMethods.get(algorithmOf(only(digest, ds, "DigestMethod"))),
      value: base64(only(digest, ds, "DigestValue"))
    }))
  if (named.length === 0) return refuse("The signed properties do not name the signing certificate")
  const certificates = XmlTree.elements(only(signature, ds, "KeyInfo"))
    .filter(({ name, namespace }) => namespace === ds && name === "X509Certificate")
    .map((element) => base64(element))
  const raw = certificates.find((raw) =>
    named.some(({ hash: algorithm, value }) => algorithm !== undefined && equal(hash(algorithm, raw, "buffer"), value))
  )
  if (raw === undefined) return refuse("No certificate has the digest that the signed properties name")
  try {
    const certificate = Certificate.read(raw)
    // Node reads the key when it is asked for, and throws where it is malformed.
    if (certificate.publicKey.asymmetricKeyType !== undefined) return certificate
    return refuse("The key of the certificate is of an unknown kind", 21115)
  } catch (thrown) {
    if (thrown instanceof SignatureError) throw thrown
    return refuse("The certificate cannot be read", 21115)
  }
}

const signedPropertiesType = "http://uri.etsi.org/01903#SignedProperties"

const signingCertificates: ReadonlySet<string> = new Set(["SigningCertificate", "SigningCertificateV2"])

// Each of them costs as much as the document is long. A login document has two references and one certificate.
const few = <A>(found: ReadonlyArray<A>, what: string): ReadonlyArray<A> =>
  found.length > 32 ? refuse(`The signature has more than 32 ${what}`) : found

const only = (parent: XmlTree.Element, namespace: string, name: string): XmlTree.Element => {
  const found = XmlTree.childElements(parent, namespace, name)
  if (found.length !== 1) refuse(`Expected one ${name} in ${parent.name}, found ${found.length}`)
  return found[0]!
}

const algorithmOf = (element: XmlTree.Element): string => XmlTree.attribute(element, "Algorithm") ?? ""

const base64 = (element: XmlTree.Element): Buffer => Buffer.from(XmlTree.textOf(element), "base64")

const equal = (left: Buffer, right: Buffer): boolean => left.length === right.length && timingSafeEqual(left, right)
