/**
 * The independent judge: libxml2, compiled to WebAssembly.
 */
import {
  XmlC14NMode,
  XmlBufferInputProvider,
  XmlDocument,
  XmlElement,
  XmlParseError,
  XmlValidateError,
  XsdValidator,
  xmlRegisterInputProvider
} from "libxml2-wasm"

/**
 * Returns why libxml2 does not take `xml` as a namespace-well-formed document, or `undefined` when it does.
 */
export const wellFormedness = (xml: string): string | undefined => {
  try {
    XmlDocument.fromString(xml).dispose()
    return undefined
  } catch (thrown) {
    if (!(thrown instanceof XmlParseError)) throw thrown
    return thrown.message.trim()
  }
}

// One for the process, which other users of libxml2 share: libxml2 has room for fifteen, and can only remove all.
const provider = new XmlBufferInputProvider({})
xmlRegisterInputProvider(provider)

/** Has libxml2 find the files while it runs, and not afterwards. */
const withFiles = <A>(files: ReadonlyMap<string, string>, run: () => A): A => {
  for (const [address, text] of files) provider.addBuffer(address, new TextEncoder().encode(text))
  try {
    return run()
  } finally {
    for (const address of files.keys()) provider.removeBuffer(address)
  }
}

/**
 * Returns why `xml` is not valid against the schema, or `undefined` when it is. Imports of the schema are taken from
 * `imported`, by address, and from nowhere else.
 */
export const validity = (
  xsd: string,
  xml: string,
  imported: ReadonlyMap<string, string> = new Map()
): string | undefined => withFiles(imported, () => invalidity(xsd, xml))

const invalidity = (xsd: string, xml: string): string | undefined => {
  using schema = XmlDocument.fromString(xsd)
  using validator = XsdValidator.fromDoc(schema)
  using document = XmlDocument.fromString(xml)
  try {
    validator.validate(document)
    return undefined
  } catch (thrown) {
    if (!(thrown instanceof XmlValidateError)) throw thrown
    return thrown.message.trim()
  }
}

/**
 * An element with its local name, the text directly inside of it, and its attributes as `name=value`, sorted. libxml2 drops the
 * declaration of the prefix `xml`, which every document has.
 */
export interface Values {
  readonly name: string
  readonly text: string
  readonly attributes: ReadonlyArray<string>
  readonly children: ReadonlyArray<Values>
}

const qualified = (prefix: string, name: string): string => (prefix === "" ? name : `${prefix}:${name}`)

const valuesOf = (element: XmlElement): Values => {
  const children: Array<Values> = []
  let text = ""
  for (const node of element.find("text() | *")) {
    if (node instanceof XmlElement) children.push(valuesOf(node))
    else text += node.content
  }
  const attributes = element.attrs.map(({ content, name, prefix }) => `${qualified(prefix, name)}=${content}`)
  const declarations = Object.entries(element.nsDeclarations).map(([prefix, uri]) =>
    prefix === "" ? `xmlns=${uri}` : `xmlns:${prefix}=${uri}`
  )
  return { name: element.name, text, attributes: [...attributes, ...declarations].sort(), children }
}

/** Returns the values of a document as libxml2 reads them. */
export const values = (xml: string): Values => {
  using document = XmlDocument.fromString(xml)
  return valuesOf(document.root)
}

/** The first fault that libxml2 finds. */
export interface FirstFault {
  readonly line: number
  readonly message: string
  /** How many elements and attributes have faults. */
  readonly places: number
}

/**
 * Compiles a schema. Returns a function that says what is wrong with a document first, or `undefined` when it is valid.
 */
export const validator = (
  xsd: string,
  imported: ReadonlyMap<string, string>
): ((xml: string) => FirstFault | undefined) => {
  const compiled = withFiles(imported, () => {
    using schema = XmlDocument.fromString(xsd)
    return XsdValidator.fromDoc(schema)
  })
  return (xml) => {
    try {
      using document = XmlDocument.fromString(xml)
      compiled.validate(document)
      return undefined
    } catch (thrown) {
      if (!(thrown instanceof XmlValidateError) && !(thrown instanceof XmlParseError)) throw thrown
      const [first] = thrown.details
      const places = new Set(
        thrown.details.map(
          ({ message, xpath }) => `${xpath} ${/^Element '[^']*', attribute '[^']*'/.exec(message)?.[0]}`
        )
      )
      return { line: first?.line ?? 0, message: first?.message ?? thrown.message, places: places.size }
    }
  }
}

/** Which canonical form, and of what. */
export interface Canonicalization {
  readonly form: "inclusive-1.0" | "inclusive-1.1" | "exclusive"
  readonly withComments: boolean
  readonly inclusivePrefixes?: ReadonlyArray<string>
  /** An XPath expression for the element; the whole document where it is missing. */
  readonly element?: string
  /** The namespaces of the expression. */
  readonly namespaces?: Record<string, string>
}

const modes = {
  "inclusive-1.0": XmlC14NMode.XML_C14N_1_0,
  "inclusive-1.1": XmlC14NMode.XML_C14N_1_1,
  exclusive: XmlC14NMode.XML_C14N_EXCLUSIVE_1_0
}

/**
 * Returns the canonical form of a document, or of an element of it.
 */
export const canonical = (
  xml: string,
  { element, form, inclusivePrefixes, namespaces, withComments }: Canonicalization
): string => {
  using document = XmlDocument.fromString(xml)
  const options = {
    mode: modes[form],
    withComments,
    ...(inclusivePrefixes === undefined ? {} : { inclusiveNamespacePrefixes: [...inclusivePrefixes] })
  }
  const node = element === undefined ? document : document.get(element, namespaces)
  if (node === null) throw new Error(`No ${element}`)
  return node.canonicalizeToString(options)
}
