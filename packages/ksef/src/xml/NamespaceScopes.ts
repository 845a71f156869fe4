/**
 * The namespace declarations of the elements that are open, with constant time for each lookup.
 */

/** Declarations in scope. Those of an element are made before it opens, and end when it closes. */
export interface NamespaceScopes {
  readonly declare: (prefix: string, uri: string) => void
  readonly open: () => void
  readonly close: () => void
  /** Returns the namespace of a prefix, `""` for the default one; `undefined` for a prefix that is not declared. */
  readonly resolve: (prefix: string) => string | undefined
}

/** Makes the scopes of a document, with the prefixes that XML reserves (Namespaces in XML 1.0, §3). */
export const make = (): NamespaceScopes => {
  const bindings = new Map<string, Array<string>>([
    ["xml", ["http://www.w3.org/XML/1998/namespace"]],
    ["xmlns", ["http://www.w3.org/2000/xmlns/"]]
  ])
  // The prefixes that each open element declares; most declare none.
  const declared: Array<ReadonlyArray<string> | undefined> = []
  let next: Array<string> | undefined

  return {
    declare: (prefix, uri) => {
      const uris = bindings.get(prefix)
      if (uris === undefined) bindings.set(prefix, [uri])
      else uris.push(uri)
      if (next === undefined) next = [prefix]
      else next.push(prefix)
    },
    open: () => {
      declared.push(next)
      next = undefined
    },
    close: () => {
      for (const prefix of declared.pop() ?? none) bindings.get(prefix)!.pop()
    },
    resolve: (prefix) => bindings.get(prefix)?.at(-1)
  }
}

const none: ReadonlyArray<string> = []
