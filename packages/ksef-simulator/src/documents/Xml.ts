/**
 * XML by libxml2, compiled to WebAssembly: parsing, schemas, paths, canonical forms.
 *
 * Nothing outside of the document is read: no external entity, no DTD, no schema but those that come with the package.
 */
import { schemaFile } from "@govoice/ksef/schemas"
import type * as Libxml2 from "libxml2-wasm"

type Library = typeof Libxml2

/** A document that was parsed. Its memory is not collected: `dispose` frees it. */
export type XmlDocument = Libxml2.XmlDocument

/** An element of a document. */
export type XmlElement = Libxml2.XmlElement

/** A schema that comes with the package. */
export type SchemaName = keyof typeof schemas

/** How to write a canonical form. */
export interface Canonicalization {
  readonly mode: "inclusive-1.0" | "inclusive-1.1" | "exclusive"
  /** Prefixes that an exclusive form treats as an inclusive one does. */
  readonly prefixes?: ReadonlyArray<string>
}

/** A fault of a document, in the library's words. */
export interface XmlFault {
  readonly message: string
  /** From 1, or 0 where it is unknown. */
  readonly line: number
}

const schemas = {
  "FA (3)": "schemat_FA(3)_v1-0E.xsd",
  "FA_RR (1)": "schemat_FA_RR(1)_v1-1E.xsd",
  "auth 2.0": "schemat_auth_v2-1.xsd",
  "auth 2.1": "schemat_auth_v2-1.xsd"
} as const

const base = "http://crd.gov.pl/xml/schematy/dziedzinowe/mf/2022/01/05/eD/DefinicjeTypy/"
const imported = ["StrukturyDanych_v10-0E.xsd", "ElementarneTypyDanych_v10-0E.xsd", "KodyKrajow_v10-0E.xsd"] as const

/** The library, with its schemas. */
export class Xml {
  readonly #library: Library
  readonly #validators = new Map<SchemaName, Libxml2.XsdValidator>()
  readonly #paths = new Map<string, Libxml2.XmlXPath>()

  private constructor(library: Library) {
    this.#library = library
  }

  static #loading: Promise<Xml> | undefined

  /** Loads the library, once for all simulators of a process. It takes a few dozen milliseconds. */
  static readonly load = (): Promise<Xml> => (Xml.#loading ??= Xml.#load())

  static async #load(): Promise<Xml> {
    const library = await import("libxml2-wasm")
    const buffers = imported.map((name) => [`${base}${name}`, Buffer.from(schemaFile(name))] as const)
    library.xmlRegisterInputProvider(new library.XmlBufferInputProvider(Object.fromEntries(buffers)))
    return new Xml(library)
  }

  /** Parses a document, hands it to `use`, and frees it. Returns the fault of one that is not well-formed. */
  with<A>(bytes: Uint8Array, use: (document: XmlDocument) => A): A | XmlFault {
    const { ParseOption, XmlDocument, XmlParseError } = this.#library
    let document: XmlDocument
    try {
      const option = (ParseOption.XML_PARSE_NONET | ParseOption.XML_PARSE_NO_XXE) as Libxml2.ParseOption
      document = XmlDocument.fromBuffer(bytes, { option })
    } catch (error) {
      if (!(error instanceof XmlParseError)) throw error
      return { message: error.details[0]?.message.trim() ?? error.message.trim(), line: error.details[0]?.line ?? 0 }
    }
    try {
      return use(document)
    } finally {
      document.dispose()
    }
  }

  /** Returns the faults of a document against a schema, at most ten. */
  validate(name: SchemaName, document: XmlDocument): ReadonlyArray<XmlFault> {
    try {
      this.#validator(name).validate(document)
      return []
    } catch (error) {
      if (!(error instanceof this.#library.XmlValidateError)) throw error
      return error.details.slice(0, 10).map(({ line, message }) => ({
        message: message.replaceAll(/\{[^{}]*\}/g, "").trim(),
        line
      }))
    }
  }

  /** Returns the text of what a path selects first, or `undefined` where it selects nothing. */
  text(document: XmlDocument | XmlElement, path: string, namespaces: Readonly<Record<string, string>>) {
    return document.get(this.#path(path, namespaces))?.content
  }

  /** Returns the elements that a path selects. */
  elements(
    document: XmlDocument | XmlElement,
    path: string,
    namespaces: Readonly<Record<string, string>>
  ): ReadonlyArray<XmlElement> {
    return document
      .find(this.#path(path, namespaces))
      .filter((node): node is XmlElement => node instanceof this.#library.XmlElement)
  }

  /** Returns how many nodes a path selects. */
  count(document: XmlDocument, path: string, namespaces: Readonly<Record<string, string>> = {}): number {
    return Number(document.eval(this.#path(`count(${path})`, namespaces)))
  }

  /** Writes the canonical form of a document or of an element in its place, without comments. */
  canonical(node: XmlDocument | XmlElement, { mode, prefixes = [] }: Canonicalization): string {
    const modes = this.#library.XmlC14NMode
    const options = {
      "inclusive-1.0": { mode: modes.XML_C14N_1_0 },
      "inclusive-1.1": { mode: modes.XML_C14N_1_1 },
      exclusive: {
        mode: modes.XML_C14N_EXCLUSIVE_1_0,
        ...(prefixes.length === 0 ? {} : { inclusiveNamespacePrefixes: [...prefixes] })
      }
    }
    return node.canonicalizeToString(options[mode])
  }

  #path(path: string, namespaces: Readonly<Record<string, string>>): Libxml2.XmlXPath {
    const key = `${path} ${JSON.stringify(namespaces)}`
    const known = this.#paths.get(key)
    if (known !== undefined) return known
    const compiled = this.#library.XmlXPath.compile(path, namespaces)
    this.#paths.set(key, compiled)
    return compiled
  }

  #validator(name: SchemaName): Libxml2.XsdValidator {
    const known = this.#validators.get(name)
    if (known !== undefined) return known
    const published = schemaFile(schemas[name])
    // Version 2.0 of the login document differs in its namespace, and in stricter patterns of addresses.
    const text = name === "auth 2.0" ? published.replaceAll("/auth/token/2.1", "/auth/token/2.0") : published
    const document = this.#library.XmlDocument.fromString(text, { url: `${base}${name}.xsd` })
    try {
      const validator = this.#library.XsdValidator.fromDoc(document)
      this.#validators.set(name, validator)
      return validator
    } finally {
      document.dispose()
    }
  }
}

/** Whether an outcome of `Xml.with` is a fault. */
export const isFault = (value: unknown): value is XmlFault =>
  typeof value === "object" && value !== null && "message" in value && "line" in value
