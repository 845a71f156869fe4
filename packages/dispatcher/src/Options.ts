/**
 * Options of a dispatcher. Every option has a safe default.
 *
 * @since 0.1.0
 */

/**
 * A network in CIDR notation, such as `10.1.0.0/16` or `fd12:3456::/32`. A bare address is a network of one.
 *
 * @category models
 * @since 0.1.0
 */
export type Cidr = string

/**
 * Looks up the addresses of a host name.
 *
 * **Details**
 *
 * Receives a lowercase ASCII name without a trailing dot, never an IP address. Returns all addresses as text, the preferred
 * one first. `signal` is aborted when no attempt waits for the answer any more. An empty answer, more than 256 addresses and
 * a rejection are a failed lookup, which can be retried.
 *
 * **Gotchas**
 *
 * Return all addresses of the answer. Every address is judged, and one that is not allowed refuses the request. A resolver
 * that drops such addresses hides an attack.
 *
 * @category models
 * @since 0.1.0
 */
export type Resolve = (hostname: string, options: { readonly signal: AbortSignal }) => Promise<ReadonlyArray<string>>

/**
 * Which URLs and addresses are allowed.
 *
 * @category models
 * @since 0.1.0
 */
export interface PolicyOptions {
  /**
   * Whether `http:` URLs are accepted beside `https:`.
   *
   * @default false
   */
  readonly allowHttp?: boolean | undefined

  /**
   * Networks that are allowed although they are not public, such as one of your own. Cloud metadata addresses stay refused.
   *
   * @default []
   */
  readonly allowNetworks?: ReadonlyArray<Cidr> | undefined

  /**
   * Networks that are refused. Takes precedence over `allowNetworks`.
   *
   * @default []
   */
  readonly denyNetworks?: ReadonlyArray<Cidr> | undefined

  /**
   * The only ports that are allowed.
   *
   * @default every port from 1 to 65535
   */
  readonly allowPorts?: ReadonlyArray<number> | undefined

  /**
   * Ports that are refused, for example `badPorts`. Takes precedence over `allowPorts`.
   *
   * @default []
   */
  readonly denyPorts?: ReadonlyArray<number> | undefined

  /**
   * NAT64 prefixes of your own network (RFC 6052), of 32, 40, 48, 56, 64 or 96 bits.
   *
   * An address with such a prefix is judged as the IPv4 address that it is translated to, as is always done for `64:ff9b::/96`.
   * A prefix of your own looks like any other public network, so it has to be listed here.
   *
   * @default []
   */
  readonly nat64Prefixes?: ReadonlyArray<Cidr> | undefined
}

/**
 * Options of a dispatcher.
 *
 * @category models
 * @since 0.1.0
 */
export interface DispatcherOptions extends PolicyOptions {
  /**
   * How long one `send` may take, in milliseconds, from the call to the response head: lookup, wait for a connection, connect,
   * TLS, request and response. A request can set its own.
   *
   * @default 10_000
   */
  readonly deadlineMs?: number | undefined

  /**
   * Looks up the addresses of a host name.
   *
   * @default resolveWithDns()
   */
  readonly resolve?: Resolve | undefined

  /** Options of TLS. */
  readonly tls?: TlsOptions | undefined

  /**
   * A forward proxy for all requests, as `http://user:password@host:port`.
   *
   * **Details**
   *
   * The proxy receives a `CONNECT` with the judged address, for `http:` URLs too, and does not look up names. TLS runs inside of
   * the tunnel, between the dispatcher and the receiver. Names are looked up and judged as without a proxy. The proxy is
   * trusted: its own address is not judged, and the dispatcher cannot check which address it connects to.
   *
   * @default none; proxies in the environment are never used
   */
  readonly proxy?: string | undefined

  /**
   * How many connections may be open at once to one target: a scheme, host, port and address. Each target has a pool. Further
   * requests wait within their deadlines.
   *
   * @default 64
   */
  readonly maxConnectionsPerTarget?: number | undefined

  /**
   * How many pools may keep idle connections. The least recently used one is evicted first.
   *
   * @default 1_000
   */
  readonly maxTargets?: number | undefined

  /**
   * How many connections without an attempt may be open in all pools together. The one that has been idle for longest is closed
   * first.
   *
   * @default 1_000
   */
  readonly maxIdleConnections?: number | undefined

  /** Called for every TCP connection that was opened, before the request is written. Its errors are ignored. */
  readonly onConnect?: ((connection: Connected) => void) | undefined

  /** Called after every attempt with diagnostics for operators. Its errors are ignored. */
  readonly onAttempt?: ((diagnostics: AttemptDiagnostics) => void) | undefined
}

/**
 * Options of TLS. Versions below 1.2 are never used, certificates are always checked, and neither finite-field Diffie-Hellman
 * nor renegotiation is offered.
 *
 * @category models
 * @since 0.1.0
 */
export interface TlsOptions {
  /**
   * Certificate authorities in PEM, **in place of** those that Node trusts.
   *
   * To add one, pass `[...tls.rootCertificates, yours]`, or start Node with `NODE_EXTRA_CA_CERTS`.
   */
  readonly ca?: string | Uint8Array | ReadonlyArray<string | Uint8Array> | undefined
}

/**
 * A TCP connection that was opened.
 *
 * @category models
 * @since 0.1.0
 */
export interface Connected {
  /** The address in canonical form (RFC 5952). */
  readonly address: string
  readonly port: number
  /** The host of the URL, as in its `Host` header but without a port. */
  readonly hostname: string
}

/**
 * The phases of an attempt, in their order.
 *
 * @category models
 * @since 0.1.0
 */
export type Phase = "guard" | "lookup" | "queue" | "connect" | "tls" | "response" | "done"

/**
 * Diagnostics of one attempt, for the operator of the dispatcher.
 *
 * **Gotchas**
 *
 * Do not show them to the person who chose the URL: `code`, `address` and timings reveal the structure of your network. Use
 * `describe` for that person.
 *
 * @category models
 * @since 0.1.0
 */
export interface AttemptDiagnostics {
  /** Absent where the URL could not be parsed or was blocked. */
  readonly hostname?: string | undefined
  readonly port?: number | undefined
  readonly outcome: "delivered" | "refused" | "blocked" | "interrupted" | `failed_${string}`
  /** The phase in which it ended. */
  readonly phase: Phase
  /** The address that was used, or tried last. */
  readonly address?: string | undefined
  /** How many addresses were tried. */
  readonly addressesTried: number
  /** Whether the request was sent over a connection that was already open. */
  readonly reusedConnection: boolean
  /**
   * The code of the error behind a failure, such as `ECONNREFUSED`. `ERR_SSL_WRONG_VERSION_NUMBER` means that the port speaks
   * plain HTTP: use the port with TLS, or an `http:` URL where `allowHttp` is set.
   */
  readonly code?: string | undefined
  /** The rule that blocked it. */
  readonly rule?: string | undefined
  readonly status?: number | undefined
  readonly durationMs: number
  /** How long each phase took, in milliseconds. Phases that were not reached are absent. */
  readonly timings: {
    readonly lookupMs?: number | undefined
    readonly queueMs?: number | undefined
    readonly connectMs?: number | undefined
    readonly tlsMs?: number | undefined
    readonly responseMs?: number | undefined
  }
}
