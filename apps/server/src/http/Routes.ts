/** The methods of each path, read from the declared API. */
import { Api } from "@govoice/api"
import { HttpApi, type HttpApiGroup } from "effect/http-api"
import { ConsoleApi } from "./console/ConsoleApi.ts"

interface Route {
  readonly method: string
  readonly segments: ReadonlyArray<string>
}

/** Tells which methods paths have, with `HEAD` and `OPTIONS`. */
export interface Routes {
  /** The methods of all paths together, for `OPTIONS *`. */
  readonly allMethods: ReadonlyArray<string>
  /**
   * Returns the methods of a path; none for an unknown path. Segments are decoded one by one, so an encoded slash separates
   * nothing.
   */
  readonly methodsOf: (path: string) => ReadonlyArray<string>
}

const operational = [
  "/",
  "/healthz",
  "/readyz",
  "/openapi.json",
  "/docs",
  "/docs/errors",
  "/docs/errors/:code",
  "/docs/guides",
  "/docs/guides/:name",
  "/docs/typeface/:name",
  "/favicon.svg"
]

const toGet = (path: string): Route => ({ method: "GET", segments: path.split("/") })

const declared = <Groups extends HttpApiGroup.Constraint>(api: HttpApi.HttpApi<string, Groups>): Array<Route> => {
  const found: Array<Route> = []
  HttpApi.reflect(api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint }) => found.push({ method: endpoint.method, segments: endpoint.path.split("/") })
  })
  return found
}

const withDerived = (methods: ReadonlyArray<string>): ReadonlyArray<string> =>
  [...new Set([...methods, ...(methods.includes("GET") ? ["HEAD"] : []), "OPTIONS"])].sort()

// A last segment `*` stands for the rest of the path.
const matches = (expected: ReadonlyArray<string>, segments: ReadonlyArray<string>): boolean => {
  const isPrefix = expected.at(-1) === "*"
  const fixed = isPrefix ? expected.slice(0, -1) : expected
  return (
    (isPrefix ? segments.length > fixed.length : segments.length === fixed.length) &&
    fixed.every((segment, index) =>
      segment.startsWith(":") ? segments[index] !== "" : segment === decodeURIComponent(segments[index]!)
    )
  )
}

/** Makes the table of a deployment. */
export const make = ({ consoleEnabled }: { readonly consoleEnabled: boolean }): Routes => {
  const routes = [
    ...operational.map(toGet),
    ...declared(Api),
    ...(consoleEnabled ? [...["/console", "/console/*"].map(toGet), ...declared(ConsoleApi)] : [])
  ]
  return {
    allMethods: withDerived(routes.map(({ method }) => method)),
    methodsOf: (path) => {
      const segments = path.split("/")
      const methods = routes.filter((route) => matches(route.segments, segments)).map(({ method }) => method)
      return methods.length === 0 ? [] : withDerived(methods)
    }
  }
}
