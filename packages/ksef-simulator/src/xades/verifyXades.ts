/**
 * The check of a signed login document: one enveloped or enveloping XAdES signature whose references cover the document and
 * the signed properties, over a digest of the certificate that made it.
 *
 * Whether the certificate is valid, and whom it stands for, is judged elsewhere: that is the outcome of a login, and not a
 * fault of the document.
 *
 * `Signature.verify` of `@govoice/ksef/xades` verifies as well, and is not used here: its canonical forms are written by the code
 * that signs for our own client, so that the same mistake in both would go unnoticed. Here libxml2 writes them. A test
 * compares the two verifiers.
 */
import type { X509Certificate } from "node:crypto"
import type { Canonicalization, Xml, XmlDocument, XmlElement } from "../documents/Xml.ts"
import { isFault } from "../documents/Xml.ts"
import type { ExceptionCode } from "../http/exceptions.ts"
import { badRequest, type Refusal } from "../http/Reply.ts"
import * as Certificate from "../keys/Certificate.ts"
import { canonicalizationOf, digestOf, isSignature, isStrong } from "./algorithms.ts"

/** The content of a signed document. */
export interface SignedLogin {
  readonly challenge: string
  readonly contextType: string
  readonly context: string
  readonly subjectIdentifierType: "certificateSubject" | "certificateFingerprint"
  readonly allowedIps: {
    readonly ip4Addresses: ReadonlyArray<string>
    readonly ip4Ranges: ReadonlyArray<string>
    readonly ip4Masks: ReadonlyArray<string>
  }
  readonly certificate: X509Certificate
}

const dsig = "http://www.w3.org/2000/09/xmldsig#"
const namespaces = { ds: dsig, xades: "http://uri.etsi.org/01903/v1.3.2#" }
const signedPropertiesType = "http://uri.etsi.org/01903#SignedProperties"
const loginNamespaces = {
  "auth 2.0": "http://ksef.mf.gov.pl/auth/token/2.0",
  "auth 2.1": "http://ksef.mf.gov.pl/auth/token/2.1"
} as const

const refuse = (code: ExceptionCode, ...details: ReadonlyArray<string>): Refusal => badRequest(code, ...details)

// KSeF does not say what is wrong with a signature. A simulator does.
const wrongSignature = (why: string): Refusal => refuse(9105, why)

const compact = (text: string | undefined): string => (text ?? "").replaceAll(/\s/g, "")

const decoded = (bytes: Buffer): void => {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes)
  } catch {
    throw refuse(21217)
  }
}

/** The target of a reference: an element, or the document without its signature. */
interface Covered {
  readonly target: XmlElement | undefined
  readonly type: string | undefined
}

/** The result of the transforms of a reference. */
interface Transformed {
  readonly isEnveloped: boolean
  readonly mode: Canonicalization["mode"]
  readonly prefixes: ReadonlyArray<string>
}

class Verification {
  readonly #xml: Xml
  readonly #bytes: Buffer
  readonly #document: XmlDocument

  constructor(xml: Xml, bytes: Buffer, document: XmlDocument) {
    this.#xml = xml
    this.#bytes = bytes
    this.#document = document
  }

  run(): SignedLogin {
    if (this.#document.dtd !== null) throw refuse(9101, "Dokument zawiera deklarację DOCTYPE.")
    const signature = this.#onlySignature()
    const { element: login, version } = this.#login()
    const { root } = this.#document
    const isEnveloped = login.isSameNode(root) && isChild(signature, login)
    const isEnveloping =
      signature.isSameNode(root) && this.#all("ds:Object", signature).some((object) => isChild(login, object))
    if (!isEnveloped && !isEnveloping) {
      throw wrongSignature("The signature is neither enveloped in the login document nor does it envelop it.")
    }
    this.#validate(version, login)
    const properties = this.#signedProperties(signature)
    const certificate = this.#certificate(signature, properties)
    this.#checkReferences(signature, login, properties)
    this.#checkValue(signature, certificate)
    return { ...this.#read(login, loginNamespaces[version]), certificate }
  }

  #all(path: string, from: XmlDocument | XmlElement = this.#document): ReadonlyArray<XmlElement> {
    return this.#xml.elements(from, path, namespaces)
  }

  #text(from: XmlElement, path: string): string | undefined {
    return this.#xml.text(from, path, namespaces)
  }

  #onlySignature(): XmlElement {
    const [signature, ...more] = this.#all("//ds:Signature")
    if (signature === undefined) throw refuse(9102)
    if (more.length > 0) throw refuse(9103)
    return signature
  }

  #login(): { readonly element: XmlElement; readonly version: keyof typeof loginNamespaces } {
    const found = (Object.entries(loginNamespaces) as Array<[keyof typeof loginNamespaces, string]>).flatMap(
      ([version, namespace]) =>
        this.#xml
          .elements(this.#document, "//a:AuthTokenRequest", { a: namespace })
          .map((element) => ({ element, version }))
    )
    const [first, ...more] = found
    if (first === undefined || more.length > 0) throw refuse(9101, "Expected one element AuthTokenRequest.")
    return first
  }

  // The schema has no place for the signature.
  #validate(version: keyof typeof loginNamespaces, login: XmlElement): void {
    const alone = this.#xml.canonical(login, { mode: "inclusive-1.0" })
    const faults = this.#xml.with(Buffer.from(alone), (document) => {
      for (const signature of this.#all("//ds:Signature", document)) signature.remove()
      return this.#xml.validate(version, document)
    })
    if (isFault(faults)) throw refuse(21001)
    if (faults.length > 0) throw refuse(21401, ...faults.map(({ message }) => message))
  }

  #certificate(signature: XmlElement, properties: XmlElement): X509Certificate {
    const certificates = this.#all("ds:KeyInfo/ds:X509Data/ds:X509Certificate", signature).map(({ content }) =>
      Certificate.parse(Buffer.from(compact(content), "base64"))
    )
    if (certificates.length === 0) throw wrongSignature("KeyInfo has no X509Certificate.")
    const signing = this.#signingDigest(properties)
    if (signing === undefined) {
      throw wrongSignature("SignedSignatureProperties has neither SigningCertificate nor SigningCertificateV2.")
    }
    const readable = certificates.filter((certificate) => certificate !== undefined)
    if (readable.length === 0) throw refuse(21115)
    const found = readable.find((certificate) => digestOf(signing.algorithm, certificate.raw)?.equals(signing.value))
    if (found === undefined) throw wrongSignature("No certificate of KeyInfo has the digest of SigningCertificate.")
    return found
  }

  #signingDigest(properties: XmlElement): { readonly algorithm: string; readonly value: Buffer } | undefined {
    const [digest] = this.#all(
      ["SigningCertificate", "SigningCertificateV2"]
        .map((name) => `xades:SignedSignatureProperties/xades:${name}/xades:Cert/xades:CertDigest`)
        .join(" | "),
      properties
    )
    if (digest === undefined) return undefined
    return {
      algorithm: this.#text(digest, "ds:DigestMethod/@Algorithm") ?? "",
      value: Buffer.from(compact(this.#text(digest, "ds:DigestValue")), "base64")
    }
  }

  // XAdES allows one set for a signature, which the attribute `Target` of the set names.
  #signedProperties(signature: XmlElement): XmlElement {
    const target = `#${this.#text(signature, "@Id") ?? ""}`
    const all = this.#all("ds:Object/xades:QualifyingProperties", signature)
    const own = all.filter((qualifying) => this.#text(qualifying, "@Target") === target)
    const [properties, ...others] = own.flatMap((qualifying) => this.#all("xades:SignedProperties", qualifying))
    if (properties === undefined || others.length > 0) {
      throw wrongSignature(
        `Expected one set of SignedProperties whose Target is the Id of the signature ("${target}").`
      )
    }
    return properties
  }

  #checkReferences(signature: XmlElement, login: XmlElement, properties: XmlElement): void {
    const covered = this.#all("ds:SignedInfo/ds:Reference", signature).map((reference) => this.#covered(reference))
    if (covered.length === 0) throw wrongSignature("SignedInfo has no Reference.")
    const ofProperties = covered.filter(({ target }) => target?.isSameNode(properties) === true)
    if (ofProperties.length === 0) throw wrongSignature("No reference covers the signed properties.")
    // Mandatory in every profile that KSeF names.
    if (!ofProperties.some(({ type }) => type === signedPropertiesType)) {
      throw wrongSignature(`The reference to the signed properties lacks Type="${signedPropertiesType}".`)
    }
    const isCovered = covered.some(
      ({ target }) =>
        target === undefined || target.isSameNode(login) || (login.parent !== null && target.isSameNode(login.parent))
    )
    if (!isCovered) throw wrongSignature("No reference covers the login document.")
  }

  // The target of a reference, after its digest was compared.
  #covered(reference: XmlElement): Covered {
    const uri = this.#text(reference, "@URI")
    if (uri === undefined) throw wrongSignature("A reference has no URI.")
    const algorithm = this.#text(reference, "ds:DigestMethod/@Algorithm") ?? ""
    const expected = Buffer.from(compact(this.#text(reference, "ds:DigestValue")), "base64")
    const transforms = this.#all("ds:Transforms/ds:Transform", reference)
    const form = this.#transformed(transforms)
    const target = uri === "" ? undefined : this.#byId(uri)
    if (target !== undefined && form.isEnveloped) {
      throw wrongSignature("The transform enveloped-signature stands in a reference to a part of the document.")
    }
    const canonical =
      target === undefined
        ? this.#canonicalDocument(form)
        : this.#xml.canonical(target, { mode: form.mode, prefixes: form.prefixes })
    if (digestOf(algorithm, canonical)?.equals(expected) !== true) {
      throw wrongSignature(`The digest of the reference "${uri}" is wrong.`)
    }
    return { target, type: this.#text(reference, "@Type") }
  }

  #transformed(transforms: ReadonlyArray<XmlElement>): Transformed {
    let isEnveloped = false
    let mode: Canonicalization["mode"] = "inclusive-1.0"
    let prefixes: ReadonlyArray<string> = []
    for (const transform of transforms) {
      const algorithm = this.#text(transform, "@Algorithm") ?? ""
      if (algorithm === `${dsig}enveloped-signature` || this.#leavesOutSignatures(transform, algorithm)) {
        isEnveloped = true
        continue
      }
      const named = canonicalizationOf(algorithm)
      if (named === undefined) throw wrongSignature(`The transform ${algorithm} is not accepted.`)
      mode = named
      prefixes = prefixesOf(this.#xml, transform)
    }
    return { isEnveloped, mode, prefixes }
  }

  // The one XPath that KSeF takes does what the transform enveloped-signature does.
  #leavesOutSignatures(transform: XmlElement, algorithm: string): boolean {
    if (algorithm !== "http://www.w3.org/TR/1999/REC-xpath-19991116") return false
    const expression = compact(this.#text(transform, "ds:XPath"))
    if (/^not\(ancestor-or-self::\w+:Signature\)$/.test(expression)) return true
    throw wrongSignature(`The XPath ${expression} is not accepted.`)
  }

  #canonicalDocument(form: Transformed): string {
    if (!form.isEnveloped || this.#document.root.namespaceUri === dsig)
      throw wrongSignature("A reference to the whole document lacks enveloped-signature.")
    const canonical = this.#xml.with(this.#bytes, (document) => {
      for (const signature of this.#all("//ds:Signature", document)) signature.remove()
      return this.#xml.canonical(document, { mode: form.mode, prefixes: form.prefixes })
    })
    return isFault(canonical) ? "" : canonical
  }

  #byId(uri: string): XmlElement {
    const id = /^#([\w.-]+)$/.exec(uri)?.[1]
    if (id === undefined) throw wrongSignature(`The reference "${uri}" is not accepted.`)
    const [target, ...more] = this.#all(`//*[@Id="${id}" or @ID="${id}" or @id="${id}"]`)
    if (target === undefined || more.length > 0) {
      throw wrongSignature(`Expected one element with the id of the reference "${uri}".`)
    }
    return target
  }

  #checkValue(signature: XmlElement, certificate: X509Certificate): void {
    const [signedInfo, ...more] = this.#all("ds:SignedInfo", signature)
    if (signedInfo === undefined || more.length > 0) throw wrongSignature("Expected one element SignedInfo.")
    const [method] = this.#all("ds:CanonicalizationMethod", signedInfo)
    const mode = canonicalizationOf(this.#text(signedInfo, "ds:CanonicalizationMethod/@Algorithm") ?? "")
    if (method === undefined || mode === undefined) throw wrongSignature("The canonicalization method is not accepted.")
    const text = this.#xml.canonical(signedInfo, { mode, prefixes: prefixesOf(this.#xml, method) })
    const algorithm = this.#text(signedInfo, "ds:SignatureMethod/@Algorithm") ?? ""
    const value = Buffer.from(compact(this.#text(signature, "ds:SignatureValue")), "base64")
    if (!isStrong(certificate.publicKey)) {
      throw refuse(21115, "Expected an RSA key of at least 2048 bits, or one on the curve P-256, P-384 or P-521.")
    }
    if (!isSignature(algorithm, certificate.publicKey, text, value)) {
      throw wrongSignature(`The value of the signature is wrong, or ${algorithm} is not accepted with this key.`)
    }
  }

  #read(login: XmlElement, namespace: string): Omit<SignedLogin, "certificate"> {
    const a = { a: namespace }
    const text = (path: string) => this.#xml.text(login, path, a) ?? ""
    const texts = (name: string) =>
      this.#xml.elements(login, `a:AuthorizationPolicy/a:AllowedIps/a:${name}`, a).map(({ content }) => content.trim())
    const [context] = this.#xml.elements(login, "a:ContextIdentifier/*", a)
    return {
      challenge: text("a:Challenge").trim(),
      contextType: context?.name ?? "",
      context: context?.content.trim() ?? "",
      subjectIdentifierType: text("a:SubjectIdentifierType").trim() as SignedLogin["subjectIdentifierType"],
      allowedIps: {
        ip4Addresses: texts("Ip4Address"),
        ip4Ranges: texts("Ip4Range"),
        ip4Masks: texts("Ip4Mask")
      }
    }
  }
}

const isChild = (child: XmlElement, parent: XmlElement): boolean => child.parent?.isSameNode(parent) === true

const prefixesOf = (xml: Xml, method: XmlElement): ReadonlyArray<string> => {
  const list = xml.text(method, "ec:InclusiveNamespaces/@PrefixList", { ec: "http://www.w3.org/2001/10/xml-exc-c14n#" })
  return (list ?? "").split(/\s+/).filter(Boolean)
}

/**
 * Checks a signed login document.
 *
 * @throws {Refusal} 400 with the code for what is wrong.
 */
export const verifyXades = (xml: Xml, bytes: Buffer): SignedLogin => {
  decoded(bytes)
  const verified = xml.with(bytes, (document) => new Verification(xml, bytes, document).run())
  if (isFault(verified)) throw refuse(21001, verified.message)
  return verified
}
