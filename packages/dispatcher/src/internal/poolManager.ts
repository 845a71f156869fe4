/** All connection pools of a dispatcher: which one an attempt uses, and the limits on idle connections and pools. */
import type { Connection } from "./connection.ts"
import { ConnectionPool, type PoolOwner } from "./connectionPool.ts"
import type { Instruments } from "./instruments.ts"
import { List } from "./list.ts"
import type { SocketSettings } from "./socket.ts"
import type { ParsedUrl } from "./url.ts"

export interface PoolLimits {
  /** How many connections one pool may have. */
  readonly maxConnections: number
  /** How many pools may keep idle connections or a TLS session. */
  readonly maxPools: number
  /** How many connections without an attempt there may be in all pools. */
  readonly maxIdleConnections: number
}

/** How often the limits on what connections receive are enforced, in milliseconds. */
const checkIntervalMs = 100

export class PoolManager implements PoolOwner {
  readonly maxConnections: number
  readonly socketSettings: SocketSettings
  readonly #maxPools: number
  readonly #maxSpare: number
  readonly #instruments: Instruments
  readonly #onConnected: (endpoint: ConnectionPool["endpoint"]) => void
  readonly #byKey = new Map<string, ConnectionPool>()
  /** The one that was used last is at the end. */
  readonly #kept = new List<ConnectionPool>()
  /** Connections that are established, wait for a response head or discard a body. */
  readonly #watched = new List<Connection>()
  /** Connections without an attempt, the one that has been so for longest first. */
  readonly #spare = new List<Connection>()
  #checks: NodeJS.Timeout | undefined
  #draining = false

  constructor(
    limits: PoolLimits,
    socketSettings: SocketSettings,
    instruments: Instruments,
    onConnected: (endpoint: ConnectionPool["endpoint"]) => void
  ) {
    this.maxConnections = limits.maxConnections
    this.#maxPools = limits.maxPools
    this.#maxSpare = limits.maxIdleConnections
    this.socketSettings = socketSettings
    this.#instruments = instruments
    this.#onConnected = onConnected
  }

  get #isOverLimit(): boolean {
    return this.#kept.size > this.#maxPools
  }

  /**
   * The pool with an idle connection if there is one, else one that is in use and has capacity, else the first address of the
   * answer, else the pool with the fewest waiting attempts.
   */
  choose({ hostname, origin, port, secure }: ParsedUrl, addresses: ReadonlyArray<string>): ConnectionPool {
    let chosen: ConnectionPool | undefined
    let best = -1
    for (const address of addresses) {
      const key = `${origin} ${address}`
      const pool = this.#byKey.get(key)
      const score = pool === undefined ? 1 : scoreOf(pool)
      if (score <= best) continue
      best = score
      chosen = pool ?? new ConnectionPool(this, key, origin, { secure, hostname, port, address, session: undefined })
      if (score === 3) break
    }
    if (chosen === undefined) throw new TypeError("There is no address to choose from")
    this.touch(chosen)
    return chosen
  }

  /** Keeps a pool, as the one that was used last. */
  touch(pool: ConnectionPool): void {
    const isKnown = pool.kept.list !== undefined
    this.#kept.add(pool.kept)
    if (isKnown) return
    this.#byKey.set(pool.key, pool)
    this.#instruments.adjust("pools", 1)
    if (this.#isOverLimit) this.#evictIdle(pool)
  }

  /** Evicts idle pools, those unused for longest first, until their number is within the limit. */
  #evictIdle(newest: ConnectionPool): void {
    for (const pool of this.#kept) {
      if (!this.#isOverLimit) return
      if (pool === newest || !pool.isIdle) continue
      pool.close()
      this.evict(pool)
    }
  }

  evict(pool: ConnectionPool): void {
    if (!this.#kept.delete(pool.kept)) return
    if (this.#byKey.get(pool.key) === pool) this.#byKey.delete(pool.key)
    this.#instruments.adjust("pools", -1)
  }

  shouldKeepAlive(pool: ConnectionPool): boolean {
    return pool.hasWaiters || (!this.#draining && !this.#isOverLimit)
  }

  onOpen(pool: ConnectionPool): void {
    this.touch(pool)
    this.#instruments.adjust("connections", 1)
  }

  onConnected(pool: ConnectionPool): void {
    this.#instruments.countConnection()
    this.#onConnected(pool.endpoint)
  }

  onEmpty(pool: ConnectionPool): void {
    this.evict(pool)
  }

  onWaiting(change: 1 | -1): void {
    this.#instruments.adjust("waiting", change)
  }

  onBusy(connection: Connection): void {
    this.#removeSpare(connection)
    this.#watched.add(connection.inWatched)
    // The sockets keep the process alive while there is a reason to.
    this.#checks ??= setInterval(() => this.#check(), checkIntervalMs).unref()
  }

  onSpare(connection: Connection): void {
    this.#spare.add(connection.inSpare)
    this.#instruments.adjust("idle_connections", 1)
    if (this.#spare.size > this.#maxSpare) this.#spare.first?.close()
  }

  onIdle(connection: Connection): void {
    this.#watched.delete(connection.inWatched)
  }

  onClosed(connection: Connection): void {
    this.#watched.delete(connection.inWatched)
    this.#removeSpare(connection)
    this.#instruments.adjust("connections", -1)
  }

  #removeSpare(connection: Connection): void {
    if (this.#spare.delete(connection.inSpare)) this.#instruments.adjust("idle_connections", -1)
  }

  #check(): void {
    const now = performance.now()
    for (const connection of this.#watched) connection.check(now)
    if (this.#watched.size === 0) this.#stopChecks()
  }

  #stopChecks(): void {
    clearInterval(this.#checks)
    this.#checks = undefined
  }

  /** Closes each connection as soon as its attempt has ended. */
  drain(): void {
    this.#draining = true
  }

  /** Closes every connection. */
  close(): void {
    this.#draining = true
    for (const pool of this.#kept) {
      pool.close()
      this.evict(pool)
    }
    this.#stopChecks()
  }
}

const scoreOf = (pool: ConnectionPool): number => {
  if (!pool.hasCapacity) return 1 / (2 + pool.waiters.size)
  return pool.hasIdle ? 3 : 2
}
