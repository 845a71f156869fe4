/**
 * Where KSeF is: the addresses of each environment, and which others a client may call.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"

/**
 * One environment.
 *
 * **Details**
 *
 * - `baseUrl`: ends in `/v2`, without a slash after it.
 * - `beaconUrl`: the outage beacon, where there is one.
 * - `features`: what requests that open a session ask for in `X-KSeF-Feature`.
 * - `isPublic`: whether its hosts have to resolve to public addresses.
 *
 * @category models
 * @since 0.1.0
 */
export interface Environment {
  readonly name: "test" | "demo" | "prod" | "custom"
  readonly baseUrl: string
  readonly beaconUrl: string | undefined
  readonly features: ReadonlyArray<string>
  readonly isPublic: boolean
}

/**
 * The environments of the Ministry. The test environment checks NIPs on request only; the others always do.
 *
 * @category constants
 * @since 0.1.0
 */
export const environments: Readonly<Record<"test" | "demo" | "prod", Environment>> = {
  test: {
    name: "test",
    baseUrl: "https://api-test.ksef.mf.gov.pl/v2",
    beaconUrl: "https://api-latarnia-test.ksef.mf.gov.pl",
    features: ["subject-identifier-validation"],
    isPublic: true
  },
  demo: {
    name: "demo",
    baseUrl: "https://api-demo.ksef.mf.gov.pl/v2",
    beaconUrl: undefined,
    features: [],
    isPublic: true
  },
  prod: {
    name: "prod",
    baseUrl: "https://api.ksef.mf.gov.pl/v2",
    beaconUrl: "https://api-latarnia.ksef.mf.gov.pl",
    features: [],
    isPublic: true
  }
}

/**
 * Returns an environment at another base URL, such as a simulator's: https, or http on loopback, with a path that ends in
 * `/v2`. Its beacon is at `/latarnia` of its origin, as the simulator's is. A failure is a sentence for the operator.
 *
 * @category constructors
 * @since 0.1.0
 */
export const at = (text: string): Result.Result<Environment, string> => {
  const url = URL.parse(text)
  if (url === null) return Result.fail("Expected a URL.")
  if (url.username !== "" || url.password !== "") return Result.fail("Expected a URL without a user name or password.")
  if (url.search !== "" || url.hash !== "") return Result.fail("Expected a URL without a query or fragment.")
  const isAllowed = url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url.hostname))
  if (!isAllowed) return Result.fail("Expected https, or http on a loopback address.")
  const path = url.pathname.replace(/\/$/, "")
  if (!path.endsWith("/v2")) return Result.fail("Expected a URL that ends in /v2.")
  return Result.succeed({
    name: "custom",
    baseUrl: `${url.origin}${path}`,
    beaconUrl: `${url.origin}/latarnia`,
    features: [],
    isPublic: false
  })
}

/**
 * Returns whether a client may call a URL that KSeF handed out, for an upload or a receipt: https at the host of the API
 * or under `.ksef.mf.gov.pl`; in a custom environment, at the same origin.
 *
 * @category guards
 * @since 0.1.0
 */
export const mayCall = (environment: Environment, text: string): boolean => {
  const url = URL.parse(text)
  if (url === null || url.username !== "" || url.password !== "") return false
  const { origin } = new URL(environment.baseUrl)
  if (url.origin === origin) return true
  return (
    environment.isPublic && url.protocol === "https:" && url.port === "" && url.hostname.endsWith(".ksef.mf.gov.pl")
  )
}

const isLoopback = (hostname: string): boolean =>
  hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname)
