/**
 * libxml2 as WebAssembly: compiles schemas, and reports the faults of documents one by one.
 *
 * The classes of `libxml2-wasm` collect every fault with the path of its element. libxml2 finds a path by counting siblings,
 * so that 100,000 faults take half a minute and 400 MB. This module calls the functions below these classes, which have no
 * promise of stability: the version of the package is pinned.
 *
 * @since 0.1.0
 */
import type * as Internals from "libxml2-wasm/lib/libxml2.mjs"

declare module "libxml2-wasm/lib/libxml2.mjs" {
  // Exported, and missing in the types of the package.
  export const addFunction: (callback: (context: number, error: number) => void, signature: "vii") => number
}

/**
 * A fault, while libxml2 reports it.
 *
 * @category models
 * @since 0.1.0
 */
export interface ReportedFault {
  readonly message: string
  /** From 1. libxml2 does not count further than 65,535. */
  readonly line: number
  /** Identifies the element within the document, 0 where the fault has none. */
  readonly node: number
  /** Returns the path of the element. Its cost grows with the siblings of the element. */
  readonly xpath: () => string | undefined
}

/**
 * A compiled schema.
 *
 * @category models
 * @since 0.1.0
 */
export interface CompiledSchema {
  /** Calls `onFault` for each fault of a document. */
  readonly validate: (xml: string, onFault: (fault: ReportedFault) => void) => void
}

/**
 * libxml2.
 *
 * @category models
 * @since 0.1.0
 */
export interface Libxml2 {
  /** Compiles a schema. `url` is what its imports are relative to. Throws when the schema is not valid. */
  readonly compile: (xsd: string, url: string) => CompiledSchema
}

/**
 * Loads libxml2. It reads the files that `files` has by their addresses, and those of earlier calls, and nothing else.
 *
 * @category constructors
 * @since 0.1.0
 */
export const load = async (files: Readonly<Record<string, Uint8Array>>): Promise<Libxml2> => {
  const { internals, provider, reporter } = await (loading ??= loadOnce())
  for (const [address, bytes] of Object.entries(files)) provider.addBuffer(address, bytes)
  return {
    compile: (xsd, url) => {
      const first: Array<string> = []
      const { handler } = reporter
      const schema = reporter.during(
        ({ message }) => void first.push(message),
        () =>
          withDocument(internals, handler, xsd, url, (document) => {
            const context = internals.xmlSchemaNewDocParserCtxt(document)
            internals.xmlSchemaSetParserStructuredErrors(context, handler, 0)
            try {
              return internals.xmlSchemaParse(context)
            } finally {
              internals.xmlSchemaFreeParserCtxt(context)
            }
          })
      )
      if (schema === undefined || schema === 0) throw new Error(`The schema ${url} is not valid: ${first.join(" ")}`)
      return {
        validate: (xml, onFault) => {
          reporter.during(onFault, () =>
            withDocument(internals, handler, xml, null, (document) => {
              const context = internals.xmlSchemaNewValidCtxt(schema)
              internals.xmlSchemaSetValidStructuredErrors(context, handler, 0)
              try {
                if (internals.xmlSchemaValidateDoc(context, document) < 0) throw new Error("libxml2 failed.")
              } finally {
                internals.xmlSchemaFreeValidCtxt(context)
              }
            })
          )
        }
      }
    }
  }
}

type Internal = typeof Internals

// libxml2 has room for fifteen providers and never frees one, so that there is one for all schemas of a process.
const loadOnce = async () => {
  const { XmlBufferInputProvider, xmlRegisterInputProvider } = await import("libxml2-wasm")
  const internals = await import("libxml2-wasm/lib/libxml2.mjs")
  const provider = new XmlBufferInputProvider({})
  if (!xmlRegisterInputProvider(provider)) throw new Error("libxml2 has no room for the files of schemas.")
  return { internals, provider, reporter: makeReporter(internals) }
}

let loading: ReturnType<typeof loadOnce> | undefined

// A function of WebAssembly's table is never released, so that there is one for all documents.
const makeReporter = ({ XmlErrorStruct, addFunction, xmlGetNodePath }: Internal) => {
  let onFault: ((fault: ReportedFault) => void) | undefined
  const handler = addFunction((_, error) => {
    if (XmlErrorStruct.level(error) < errorLevel) return
    const node = XmlErrorStruct.node(error)
    onFault?.({
      message: XmlErrorStruct.message(error).replace(/\n$/, ""),
      line: XmlErrorStruct.line(error),
      node,
      xpath: () => xmlGetNodePath(node) ?? undefined
    })
  }, "vii")
  return {
    handler,
    during: <A>(report: (fault: ReportedFault) => void, run: () => A): A => {
      onFault = report
      try {
        return run()
      } finally {
        onFault = undefined
      }
    }
  }
}

// Below it are warnings.
const errorLevel = 2

// XML_PARSE_NONET and XML_PARSE_NO_XXE.
const parseOptions = 2048 | 8_388_608

// Returns `undefined` when the document cannot be parsed.
const withDocument = <A>(
  { xmlCtxtSetErrorHandler, xmlFreeDoc, xmlFreeParserCtxt, xmlNewParserCtxt, xmlReadString }: Internal,
  handler: number,
  xml: string,
  url: string | null,
  use: (document: number) => A
): A | undefined => {
  const context = xmlNewParserCtxt()
  xmlCtxtSetErrorHandler(context, handler, 0)
  let document = 0
  try {
    document = xmlReadString(context, xml, url, null, parseOptions)
  } finally {
    xmlFreeParserCtxt(context)
  }
  if (document === 0) return undefined
  try {
    return use(document)
  } finally {
    xmlFreeDoc(document)
  }
}
