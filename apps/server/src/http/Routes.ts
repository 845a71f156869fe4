/** The methods of each path, read from the declared API. */
import { Api } from "@govoice/api"
import { HttpApi } from "effect/http-api"

interface Route {
  readonly method: string
  readonly segments: ReadonlyArray<string>
}

const operational = ["/", "/healthz", "/readyz", "/openapi.json", "/docs", "/docs/errors/:code", "/favicon.svg"]

const routes: ReadonlyArray<Route> = (() => {
  const found: Array<Route> = operational.map((path) => ({ method: "GET", segments: path.split("/") }))
  HttpApi.reflect(Api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint }) => found.push({ method: endpoint.method, segments: endpoint.path.split("/") })
  })
  return found
})()

const withDerived = (methods: ReadonlyArray<string>): ReadonlyArray<string> =>
  [...new Set([...methods, ...(methods.includes("GET") ? ["HEAD"] : []), "OPTIONS"])].sort()

const matches = (expected: ReadonlyArray<string>, segments: ReadonlyArray<string>): boolean =>
  expected.length === segments.length &&
  expected.every((segment, index) =>
    segment.startsWith(":") ? segments[index] !== "" : segment === decodeURIComponent(segments[index]!)
  )

/** The methods of all paths together, for `OPTIONS *`. */
export const allMethods: ReadonlyArray<string> = withDerived(routes.map(({ method }) => method))

/**
 * Returns the methods of a path with `HEAD` and `OPTIONS`; none for an unknown path. Segments are decoded one by one, so an
 * encoded slash separates nothing.
 */
export const methodsOf = (path: string): ReadonlyArray<string> => {
  const segments = path.split("/")
  const methods = routes.filter((route) => matches(route.segments, segments)).map(({ method }) => method)
  return methods.length === 0 ? [] : withDerived(methods)
}
