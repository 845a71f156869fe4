/**
 * The parts of a schema that messages need: which elements an element contains and in which order, what a value may be, and
 * how the schema describes both. Validation itself is libxml2's.
 *
 * @since 0.1.0
 */
import { type SchemaFile, schemaFile } from "../schemas.ts"
import * as SchemaTree from "./SchemaTree.ts"

/**
 * The values that a simple type allows.
 *
 * @category models
 * @since 0.1.0
 */
export interface ValueType {
  /** The built-in type that it restricts: `decimal`, `date`, `token`. Of a union, its own name. */
  readonly base: string
  /** The values that it allows; empty when it is no enumeration. */
  readonly values: ReadonlyArray<string>
}

/**
 * An element as its parent declares it.
 *
 * @category models
 * @since 0.1.0
 */
export interface ElementDeclaration {
  readonly name: string
  /** The schema's own description, in Polish, without its details. */
  readonly description: string | undefined
  /** Whether its parent is incomplete without it. */
  readonly isRequired: boolean
  /** Whether its parent may contain it more than once. */
  readonly isRepeatable: boolean
  /** Whether it stands in a group that repeats, so that order says nothing. */
  readonly isInRepeatingGroup: boolean
  /** `undefined` for an element that contains elements. */
  readonly valueType: ValueType | undefined
  /** In the order of the schema. */
  readonly children: () => ReadonlyArray<ElementDeclaration>
}

/**
 * The elements of a schema.
 *
 * @category models
 * @since 0.1.0
 */
export interface SchemaModel {
  /** Finds a declaration by the names from the root on. */
  readonly find: (path: ReadonlyArray<string>) => ElementDeclaration | undefined
  /** Returns the names of the elements that contain an element of this name. */
  readonly parentsOf: (name: string) => ReadonlyArray<string>
}

/**
 * Reads the model of a schema from its file.
 *
 * @category constructors
 * @since 0.1.0
 */
export const read = (file: SchemaFile): SchemaModel => {
  const own = SchemaTree.parse(schemaFile(file))
  const types = new Map<string, SchemaTree.Node>()
  const collect = (prefix: string, schema: SchemaTree.Node): void => {
    for (const node of schema.children) {
      if (node.name.endsWith("Type")) types.set(`${prefix}:${node.attributes.name}`, node)
    }
  }
  collect("tns", own)
  for (const name of importedFiles) collect("etd", SchemaTree.parse(schemaFile(name)))
  const roots = own.children.filter(({ name }) => name === "element").map((node) => declare(types, node, true, false))

  const find = (path: ReadonlyArray<string>): ElementDeclaration | undefined => {
    let declarations: ReadonlyArray<ElementDeclaration> = roots
    let found: ElementDeclaration | undefined
    for (const name of path) {
      found = declarations.find((declaration) => declaration.name === name)
      if (found === undefined) return undefined
      declarations = found.children()
    }
    return found
  }

  const parentsOf = (name: string): ReadonlyArray<string> => {
    const parents = new Set<string>()
    const visit = (declaration: ElementDeclaration): void => {
      for (const child of declaration.children()) {
        if (child.name === name) parents.add(declaration.name)
        visit(child)
      }
    }
    roots.forEach(visit)
    return Array.from(parents)
  }

  return { find, parentsOf }
}

type Types = ReadonlyMap<string, SchemaTree.Node>

const importedFiles = [
  "StrukturyDanych_v10-0E.xsd",
  "ElementarneTypyDanych_v10-0E.xsd",
  "KodyKrajow_v10-0E.xsd"
] as const satisfies ReadonlyArray<SchemaFile>

const declare = (
  types: Types,
  node: SchemaTree.Node,
  isRequired: boolean,
  isInRepeatingGroup: boolean
): ElementDeclaration => {
  const { maxOccurs = "1", name = "", type } = node.attributes
  const definition = type === undefined ? node.children.find((child) => child.name.endsWith("Type")) : types.get(type)
  let children: ReadonlyArray<ElementDeclaration> | undefined
  const isComplex = definition?.name === "complexType"
  return {
    name,
    description: describe(SchemaTree.documentation(node)),
    isRequired,
    isRepeatable: maxOccurs !== "1",
    isInRepeatingGroup,
    valueType: isComplex ? simpleContent(types, definition) : valueType(types, type, definition),
    children: () => (children ??= isComplex ? particles(types, definition, true, false) : [])
  }
}

// Flattens sequences and choices. A member of a choice is never required by itself.
const particles = (
  types: Types,
  node: SchemaTree.Node,
  isRequired: boolean,
  isInRepeatingGroup: boolean
): ReadonlyArray<ElementDeclaration> =>
  node.children.flatMap((child) => {
    const { base = "", maxOccurs = "1", minOccurs = "1" } = child.attributes
    const required = isRequired && minOccurs !== "0"
    if (child.name === "element") return [declare(types, child, required, isInRepeatingGroup)]
    const repeats = isInRepeatingGroup || maxOccurs !== "1"
    if (child.name === "sequence") return particles(types, child, required, repeats)
    if (child.name === "choice") return particles(types, child, false, repeats)
    if (child.name === "complexContent") return particles(types, child, required, repeats)
    if (child.name !== "extension") return []
    const extended = types.get(base)
    return [
      ...(extended === undefined ? [] : particles(types, extended, isRequired, isInRepeatingGroup)),
      ...particles(types, child, isRequired, isInRepeatingGroup)
    ]
  })

const simpleContent = (types: Types, definition: SchemaTree.Node): ValueType | undefined => {
  const content = definition.children.find(({ name }) => name === "simpleContent")
  const base = content?.children[0]?.attributes.base
  return base === undefined ? undefined : valueType(types, base, types.get(base))
}

const builtIn = "xsd:"

const valueType = (
  types: Types,
  type: string | undefined,
  definition: SchemaTree.Node | undefined
): ValueType | undefined => {
  if (type?.startsWith(builtIn) === true) return { base: type.slice(builtIn.length), values: [] }
  const restriction = definition?.children.find(({ name }) => name === "restriction")
  if (restriction === undefined) {
    const isUnion = definition?.children.some(({ name }) => name === "union") === true
    return isUnion && type !== undefined ? { base: type, values: [] } : undefined
  }
  const { base = "" } = restriction.attributes
  const inherited = valueType(types, base, types.get(base))
  const values = restriction.children.flatMap(({ attributes, name }) =>
    name === "enumeration" && attributes.value !== undefined ? [attributes.value] : []
  )
  return { base: inherited?.base ?? "string", values: values.length > 0 ? values : (inherited?.values ?? []) }
}

// Descriptions begin with what the field is and go on with the articles of law; the first clause is enough to find it.
const describe = (documentation: string | undefined): string | undefined => {
  const clause = documentation?.split(/[.;,([]|\s[-–]\s/, 1)[0]?.trim() ?? ""
  if (clause === "" || conditions.test(clause)) return undefined
  return clause.length <= 90 ? clause : `${clause.slice(0, clause.lastIndexOf(" ", 90))}…`
}

// A description that begins with its conditions does not name the field.
const conditions = /^(?:Na podstawie|W przypadku|Jeżeli|Jeśli|Gdy|Dla) /
