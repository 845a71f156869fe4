/** Which methods each path takes, read from the declared API. */
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

/** Every method that some path takes, which is what `OPTIONS *` asks for. */
export const allMethods: ReadonlyArray<string> = withDerived(routes.map(({ method }) => method))

/**
 * The methods that a path takes, `HEAD` and `OPTIONS` included; none for a path that is not there. The path can be
 * decoded, and is compared a segment at a time, so that an encoded slash parts nothing.
 */
export const methodsOf = (path: string): ReadonlyArray<string> => {
  const segments = path.split("/")
  const methods = routes.filter((route) => matches(route.segments, segments)).map(({ method }) => method)
  return methods.length === 0 ? [] : withDerived(methods)
}
