/**
 * Which methods each path takes, read from the declared API.
 *
 * @since 0.1.0
 */
import { Api } from "@govoice/api"
import { HttpApi } from "effect/http-api"

interface Route {
  readonly method: string
  readonly path: RegExp
}

const pattern = (path: string): RegExp => new RegExp(`^${path.replaceAll(/:\w+/g, "[^/]+")}/?$`)

const operational = ["/", "/healthz", "/readyz", "/openapi.json", "/docs"]

const routes: ReadonlyArray<Route> = (() => {
  const found: Array<Route> = operational.map((path) => ({ method: "GET", path: pattern(path) }))
  HttpApi.reflect(Api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint }) => found.push({ method: endpoint.method, path: pattern(endpoint.path) })
  })
  return found
})()

/**
 * The methods that a path takes, `HEAD` and `OPTIONS` included; none for a path that is not there.
 *
 * @category getters
 * @since 0.1.0
 */
export const methodsOf = (path: string): ReadonlyArray<string> => {
  const methods = routes.filter((route) => route.path.test(path)).map(({ method }) => method)
  if (methods.length === 0) return []
  return [...new Set([...methods, ...(methods.includes("GET") ? ["HEAD"] : []), "OPTIONS"])].sort()
}
