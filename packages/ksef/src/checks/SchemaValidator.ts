/**
 * Validates documents against the published schemas, with libxml2 compiled to WebAssembly.
 *
 * Nothing is read but the document and the bundled files: no network, no external entity.
 *
 * @since 0.1.0
 */
import { type SchemaFile, schemaFile } from "../schemas.ts"
import * as Libxml2 from "./Libxml2.ts"
import { maxShown } from "./Violation.ts"

/**
 * A fault that libxml2 found: its message and its position.
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
 * The first `maxShown` faults, in their order, and how many there are in all. A value or an attribute has one fault.
 *
 * @category models
 * @since 0.1.0
 */
export interface SchemaFaults {
  readonly shown: ReadonlyArray<SchemaFault>
  readonly count: number
}

/**
 * Validates documents.
 *
 * @category models
 * @since 0.1.0
 */
export interface SchemaValidator {
  /** Validates a well-formed document. */
  readonly validate: (schema: SchemaFile, xml: string) => SchemaFaults
}

/**
 * Loads libxml2 and compiles the schemas, which takes about 200 ms.
 *
 * @category constructors
 * @since 0.1.0
 */
export const load = async (schemas: ReadonlyArray<SchemaFile>): Promise<SchemaValidator> => {
  const imports = importedFiles.map((name) => [`${importBase}${name}`, Buffer.from(schemaFile(name))] as const)
  const libxml2 = await Libxml2.load(Object.fromEntries(imports))
  // Relative to an address of its own, so that the imports are found by their absolute ones.
  const compiled = new Map(
    schemas.map((name) => [name, libxml2.compile(schemaFile(name), `${importBase}${name}`)] as const)
  )
  return {
    validate: (name, xml) => {
      const schema = compiled.get(name)
      if (schema === undefined) throw new Error(`The schema ${name} is not loaded.`)
      return firstFaults(schema, xml)
    }
  }
}

const importBase = "http://crd.gov.pl/xml/schematy/dziedzinowe/mf/2022/01/05/eD/DefinicjeTypy/"

const importedFiles = [
  "StrukturyDanych_v10-0E.xsd",
  "ElementarneTypyDanych_v10-0E.xsd",
  "KodyKrajow_v10-0E.xsd"
] as const satisfies ReadonlyArray<SchemaFile>

/**
 * Counts the faults of a document and returns the first ones. Only those get a path, because finding one takes time in
 * proportion to the siblings: 45,000 faults took 5.2 s and 108 MB with a path for each, and 0.5 s and 32 MB without.
 *
 * @category getters
 * @since 0.1.0
 */
export const firstFaults = (schema: Libxml2.CompiledSchema, xml: string): SchemaFaults => {
  // libxml2 reports one value several times: by its type, by its digits, by its pattern. The first message says most.
  const shown: Array<SchemaFault> = []
  const seen = new Set<number | string>()
  let count = 0
  schema.validate(xml, ({ line, message, node, xpath }) => {
    const attribute = /^Element '[^']*', attribute '([^']*)'/.exec(message)?.[1]
    const place = attribute === undefined ? node : `${node} ${attribute}`
    if (node !== 0 && seen.has(place)) return
    seen.add(place)
    count++
    if (shown.length < maxShown) shown.push({ message, line, xpath: xpath() })
  })
  return { shown, count }
}
