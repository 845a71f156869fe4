/**
 * Finds the operation of a request, from the paths of the document.
 */
import type { Definition, Document } from "./document.ts"
import { nameOf, type OperationName } from "./operations.ts"

/** One operation of the document. */
export interface Operation {
  /** Method and path, such as `GET /sessions`. */
  readonly key: string
  /** Undefined where the simulator does not carry it out. */
  readonly name: OperationName | undefined
  readonly method: string
  readonly definition: Definition
}

/** The result of matching a request. */
export type Match =
  | {
      readonly _tag: "Operation"
      readonly operation: Operation
      readonly parameters: Readonly<Record<string, string>>
    }
  /** The path is known, with other methods. */
  | { readonly _tag: "OtherMethod"; readonly allowed: ReadonlyArray<string> }
  | { readonly _tag: "Unknown" }

interface Route {
  readonly segments: ReadonlyArray<string>
  readonly operations: ReadonlyMap<string, Operation>
}

const isParameter = (segment: string): boolean => segment.startsWith("{")

// Of two paths that match, the one with the earlier literal segment is meant: `/auth/sessions` is no login.
const byLiterals = (left: Route, right: Route): number => {
  const at = left.segments.findIndex((segment, index) => isParameter(segment) !== isParameter(right.segments[index]!))
  return at === -1 ? 0 : isParameter(left.segments[at]!) ? 1 : -1
}

/** Finds operations by method and path. */
export class Router {
  readonly operations: ReadonlyArray<Operation>
  readonly #routes = new Map<number, Array<Route>>()

  constructor({ paths }: Document) {
    const all: Array<Operation> = []
    for (const [path, methods] of Object.entries(paths)) {
      const segments = path.split("/").slice(1)
      const operations = Object.entries(methods).map(([verb, definition]): [string, Operation] => {
        const method = verb.toUpperCase()
        const key = `${method} ${path}`
        return [method, { key, name: nameOf.get(key), method, definition }]
      })
      all.push(...operations.map(([, operation]) => operation))
      const route = { segments, operations: new Map(operations) }
      this.#routes.set(segments.length, [...(this.#routes.get(segments.length) ?? []), route].sort(byLiterals))
    }
    this.operations = all
  }

  /** Finds what a path after `/v2`, without its query, asks for. */
  match(method: string, path: string): Match {
    const segments = path.split("/").slice(1)
    const routes = (this.#routes.get(segments.length) ?? []).filter((route) =>
      route.segments.every((segment, index) => isParameter(segment) || segment === segments[index])
    )
    for (const { operations, segments: names } of routes) {
      const operation = operations.get(method)
      if (operation === undefined) continue
      const parameters: Record<string, string> = {}
      for (const [index, name] of names.entries()) {
        if (!isParameter(name)) continue
        const value = decoded(segments[index]!)
        if (value === undefined) return { _tag: "Unknown" }
        parameters[name.slice(1, -1)] = value
      }
      return { _tag: "Operation", operation, parameters }
    }
    return routes.length === 0
      ? { _tag: "Unknown" }
      : { _tag: "OtherMethod", allowed: routes.flatMap(({ operations }) => [...operations.keys()]) }
  }
}

const decoded = (segment: string): string | undefined => {
  try {
    return decodeURIComponent(segment)
  } catch {
    return undefined
  }
}
