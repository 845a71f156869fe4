/**
 * Enveloped XAdES signatures: the login document of KSeF written and verified, and the canonical XML under both.
 *
 * @module
 * @since 0.1.0
 */
export * as CanonicalXml from "./xades/CanonicalXml.ts"
export * as Certificate from "./xades/Certificate.ts"
export * as Der from "./xades/Der.ts"
export * as LoginDocument from "./xades/LoginDocument.ts"
export * as Pkcs12 from "./xades/Pkcs12.ts"
export * as PrivateKeyFile from "./xades/PrivateKeyFile.ts"
export * as Signature from "./xades/Signature.ts"
export * as SigningCredential from "./xades/SigningCredential.ts"
export * as XmlTree from "./xades/XmlTree.ts"
