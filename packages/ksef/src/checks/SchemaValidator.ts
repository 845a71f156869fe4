/**
 * Validates documents against the published schemas, with libxml2 compiled to WebAssembly.
 *
 * Nothing is read but the document and the bundled files: no network, no external entity.
 *
 * @since 0.1.0
 */
import type * as Libxml2 from "libxml2-wasm"
import { type SchemaFile, schemaFile } from "../schemas.ts"

/**
 * What libxml2 found: its message, and where.
 *
 * @category models
 * @since 0.1.0
 */
export interface SchemaFault {
  readonly message: string
  /** From 1. libxml2 does not count further than 65,535. */
  readonly line: number
  /** The element, as `ElementLocator` takes it. */
  readonly xpath: string | undefined
}

/**
 * Validates documents.
 *
 * @category models
 * @since 0.1.0
 */
export interface SchemaValidator {
  /** Returns the faults of a well-formed document, in their order. Empty when it is valid. */
  readonly validate: (schema: SchemaFile, xml: string) => ReadonlyArray<SchemaFault>
}

/**
 * Loads libxml2 and compiles the schemas, which takes about 200 ms.
 *
 * @category constructors
 * @since 0.1.0
 */
export const load = async (schemas: ReadonlyArray<SchemaFile>): Promise<SchemaValidator> => {
  const libxml2 = await import("libxml2-wasm")
  const imports = importedFiles.map((name) => [`${importBase}${name}`, Buffer.from(schemaFile(name))] as const)
  libxml2.xmlRegisterInputProvider(new libxml2.XmlBufferInputProvider(Object.fromEntries(imports)))
  const validators = new Map(schemas.map((schema) => [schema, compile(libxml2, schema)]))
  return {
    validate: (schema, xml) => {
      const validator = validators.get(schema)
      if (validator === undefined) throw new Error(`The schema ${schema} is not loaded.`)
      return validate(libxml2, validator, xml)
    }
  }
}

type Library = typeof Libxml2

const importBase = "http://crd.gov.pl/xml/schematy/dziedzinowe/mf/2022/01/05/eD/DefinicjeTypy/"

const importedFiles = [
  "StrukturyDanych_v10-0E.xsd",
  "ElementarneTypyDanych_v10-0E.xsd",
  "KodyKrajow_v10-0E.xsd"
] as const satisfies ReadonlyArray<SchemaFile>

const compile = ({ XmlDocument, XsdValidator }: Library, schema: SchemaFile): Libxml2.XsdValidator => {
  // Relative to an address of its own, so that the imports are found by their absolute ones.
  const document = XmlDocument.fromString(schemaFile(schema), { url: `${importBase}${schema}` })
  try {
    return XsdValidator.fromDoc(document)
  } finally {
    document.dispose()
  }
}

const validate = (
  { ParseOption, XmlDocument, XmlParseError, XmlValidateError }: Library,
  validator: Libxml2.XsdValidator,
  xml: string
): ReadonlyArray<SchemaFault> => {
  const option = (ParseOption.XML_PARSE_NONET | ParseOption.XML_PARSE_NO_XXE) as Libxml2.ParseOption
  let document: Libxml2.XmlDocument | undefined
  try {
    document = XmlDocument.fromString(xml, { option })
    validator.validate(document)
    return []
  } catch (error) {
    if (!(error instanceof XmlValidateError) && !(error instanceof XmlParseError)) throw error
    return error.details.map(({ line, message, xpath }) => ({ message: message.replace(/\n$/, ""), line, xpath }))
  } finally {
    document?.dispose()
  }
}
