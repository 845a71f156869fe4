/**
 * What can be set on a dispatcher. Every option has a default that is safe and usable.
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
 * Finds the addresses of a name.
 *
 * **Details**
 *
 * Receives a lowercase ASCII name without a trailing dot, never an IP address, and gives all addresses as text, the
 * preferred one first. `signal` is aborted when nobody waits for the answer any more. An empty answer, one of more
 * than 256 addresses and a rejection are a failed lookup, which can be retried.
 *
 * **Gotchas**
 *
 * Give what the name system said, unfiltered. Every answer is judged, and one that may not be used refuses the request:
 * a resolver that drops such answers hides an attack.
 *
 * @category models
 * @since 0.1.0
 */
export type Resolve = (hostname: string, options: { readonly signal: AbortSignal }) => Promise<ReadonlyArray<string>>

/**
 * Which targets may be reached.
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
   * Networks that may be reached although they are not public, such as one of your own.
   *
   * Cloud metadata addresses stay shut whatever is allowed here.
   *
   * @default []
   */
  readonly allowNetworks?: ReadonlyArray<Cidr> | undefined

  /**
   * Networks that may not be reached. Wins over `allowNetworks`.
   *
   * @default []
   */
  readonly denyNetworks?: ReadonlyArray<Cidr> | undefined

  /**
   * The only ports that may be reached.
   *
   * @default every port from 1 to 65535
   */
  readonly allowPorts?: ReadonlyArray<number> | undefined

  /**
   * Ports that may not be reached, `badPorts` for example. Wins over `allowPorts`.
   *
   * @default []
   */
  readonly denyPorts?: ReadonlyArray<number> | undefined

  /**
   * NAT64 prefixes of your own network (RFC 6052), of 32, 40, 48, 56, 64 or 96 bits.
   *
   * Addresses behind them are judged as the IPv4 address they end at, as it is always done for `64:ff9b::/96`. A prefix
   * of your own looks like any other public network, so it has to be named here to be recognised.
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
   * How long one `send` may take, in milliseconds, from the call to the response head: lookup, waiting for a
   * connection, connecting, TLS, writing and waiting. A request can set its own.
   *
   * @default 10_000
   */
  readonly deadlineMs?: number | undefined

  /**
   * Finds the addresses of a name.
   *
   * @default resolveWithDns()
   */
  readonly resolve?: Resolve | undefined

  /** Settings of TLS. */
  readonly tls?: TlsOptions | undefined

  /**
   * A forward proxy to send everything through, as `http://user:password@host:port`.
   *
   * **Details**
   *
   * The proxy gets a `CONNECT` with the judged address, for `http:` URLs too, and looks no name up. TLS runs inside of the
   * tunnel, between the dispatcher and the receiver. Names are looked up and judged here as always. The proxy itself is
   * trusted: it is not judged, and that it connects to the address it was given is up to it.
   *
   * @default none; proxies in the environment are never used
   */
  readonly proxy?: string | undefined

  /**
   * How many connections may be open at once to one target: a scheme, host, port and address. Further requests wait,
   * within their deadlines.
   *
   * @default 64
   */
  readonly maxConnectionsPerTarget?: number | undefined

  /**
   * How many targets keep idle connections. The one that was not used for longest loses them first.
   *
   * @default 1_000
   */
  readonly maxTargets?: number | undefined

  /** Called for every TCP connection that was opened, before anything is written to it. What it throws is ignored. */
  readonly onConnect?: ((connection: Connected) => void) | undefined

  /** Called after every attempt with what an operator may want to know. What it throws is ignored. */
  readonly onAttempt?: ((diagnostics: AttemptDiagnostics) => void) | undefined
}

/**
 * Settings of TLS. Versions below 1.2 are never spoken and certificates are always checked.
 *
 * @category models
 * @since 0.1.0
 */
export interface TlsOptions {
  /**
   * Certificate authorities in PEM, **in place of** those that Node trusts.
   *
   * To add one, give `[...tls.rootCertificates, yours]`, or start Node with `NODE_EXTRA_CA_CERTS`.
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
 * How far an attempt came.
 *
 * @category models
 * @since 0.1.0
 */
export type Phase = "guard" | "lookup" | "queue" | "connect" | "tls" | "response" | "done"

/**
 * What happened in one attempt, for those who operate the dispatcher.
 *
 * **Gotchas**
 *
 * Never show this to those who chose the URL: `code`, `address` and timings tell them what your network looks like from
 * inside. `describe` is for them.
 *
 * @category models
 * @since 0.1.0
 */
export interface AttemptDiagnostics {
  /** Absent where the URL was refused before it was known. */
  readonly hostname?: string | undefined
  readonly port?: number | undefined
  readonly outcome: "delivered" | "refused" | "blocked" | "interrupted" | `failed_${string}`
  /** The phase in which it ended. */
  readonly phase: Phase
  /** The address that was used, or tried last. */
  readonly address?: string | undefined
  /** How many addresses were connected to, or tried. */
  readonly addressesTried: number
  /** Whether a connection that was already open carried the request. */
  readonly reusedConnection: boolean
  /** The code of the error behind a failure, such as `ECONNREFUSED`. */
  readonly code?: string | undefined
  /** The rule that refused it. */
  readonly rule?: string | undefined
  readonly status?: number | undefined
  readonly durationMs: number
  /** How long each phase took, in milliseconds. Only those that were reached. */
  readonly timings: {
    readonly lookupMs?: number | undefined
    readonly queueMs?: number | undefined
    readonly connectMs?: number | undefined
    readonly tlsMs?: number | undefined
    readonly responseMs?: number | undefined
  }
}
