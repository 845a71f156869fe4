/**
 * The connections to one endpoint: a scheme, host, port and judged address.
 *
 * The address is part of the identity, so that an attempt uses a connection again only while the address is in its own
 * answer.
 */
import { Connection, type ConnectionOwner, type Exchange } from "./connection.ts"
import { Entry, List } from "./list.ts"
import type { Endpoint, SocketSettings } from "./socket.ts"

/** An exchange that may have to wait for a connection. */
export interface Waiter extends Exchange {
  readonly waiting: Entry<Waiter>
  /** Set while it waits. */
  waitsFor: ConnectionPool | undefined
  /** A connection begins to work for it. */
  onAcquired(): void
}

/** The owner of a pool, and the functions that it reports to. */
export interface PoolOwner {
  readonly maxConnections: number
  readonly socketSettings: SocketSettings
  /** Whether a connection that is free may stay open. */
  shouldKeepAlive(pool: ConnectionPool): boolean
  /** A connection is opened. */
  onOpen(pool: ConnectionPool): void
  onConnected(pool: ConnectionPool): void
  /** There is nothing to keep it for. */
  onEmpty(pool: ConnectionPool): void
  onWaiting(change: 1 | -1): void
  onBusy(connection: Connection): void
  onSpare(connection: Connection): void
  onIdle(connection: Connection): void
  onClosed(connection: Connection): void
}

export class ConnectionPool implements ConnectionOwner {
  readonly key: string
  readonly origin: string
  readonly endpoint: Endpoint
  readonly kept = new Entry<ConnectionPool>(this)
  readonly waiters = new List<Waiter>()
  readonly #owner: PoolOwner
  readonly #connections = new List<Connection>()
  /** The one that was used last is at the end. */
  readonly #idle: Array<Connection> = []

  constructor(owner: PoolOwner, key: string, origin: string, endpoint: Endpoint) {
    this.#owner = owner
    this.key = key
    this.origin = origin
    this.endpoint = endpoint
  }

  get socketSettings(): SocketSettings {
    return this.#owner.socketSettings
  }

  get hasWaiters(): boolean {
    return this.waiters.size > 0
  }

  get hasIdle(): boolean {
    return this.#idle.length > 0
  }

  /** Whether an exchange that comes now need not wait. */
  get hasCapacity(): boolean {
    return !this.hasWaiters && this.#hasFree
  }

  get #hasFree(): boolean {
    return this.hasIdle || this.#connections.size < this.#owner.maxConnections
  }

  /** Whether no connection is in use and nothing waits for one. */
  get isIdle(): boolean {
    return this.#connections.size === this.#idle.length && !this.hasWaiters
  }

  /** Runs the exchange over an idle connection, over a new one, or as soon as one is free. */
  take(waiter: Waiter): void {
    // Those that wait came first, even if a connection is free by now.
    if (this.hasWaiters || !this.#run(waiter)) {
      this.waiters.add(waiter.waiting)
      waiter.waitsFor = this
      this.#owner.onWaiting(1)
    }
  }

  #run(waiter: Waiter): boolean {
    const connection = this.#popUsable() ?? this.#open()
    if (connection === undefined) return false
    waiter.onAcquired()
    connection.run(waiter)
    return true
  }

  leave(waiter: Waiter): void {
    waiter.waitsFor = undefined
    if (this.waiters.delete(waiter.waiting)) this.#owner.onWaiting(-1)
  }

  onConnected(): void {
    this.#owner.onConnected(this)
  }

  onBusy(connection: Connection): void {
    this.#owner.onBusy(connection)
  }

  onSpare(connection: Connection): void {
    this.#owner.onSpare(connection)
  }

  onIdle(connection: Connection): void {
    this.#owner.onIdle(connection)
    if (!connection.usable || !this.#owner.shouldKeepAlive(this)) {
      connection.close()
      return
    }
    this.#idle.push(connection)
    this.#serveWaiters()
  }

  onClosed(connection: Connection): void {
    this.#connections.delete(connection.inPool)
    this.#owner.onClosed(connection)
    const index = this.#idle.indexOf(connection)
    if (index !== -1) this.#idle.splice(index, 1)
    if (this.hasWaiters) this.#serveWaiters()
    else if (this.#connections.size === 0 && !this.#hasSessionToKeep) this.#owner.onEmpty(this)
  }

  get #hasSessionToKeep(): boolean {
    return this.endpoint.session !== undefined && this.#owner.shouldKeepAlive(this)
  }

  /** Closes connections that have been idle since before then. */
  closeIdleSince(time: number): void {
    for (const connection of this.#idle.filter(({ idleSince }) => idleSince < time)) connection.close()
  }

  close(): void {
    for (const connection of this.#connections) connection.close()
  }

  // Deferred: this is called from inside of undici's parser, which must not be entered twice.
  #serveWaiters(): void {
    if (!this.hasWaiters) return
    queueMicrotask(() => {
      for (let { first } = this.waiters; first !== undefined && this.#hasFree; { first } = this.waiters) {
        const waiter = first
        this.leave(waiter)
        waiter.guard(() => this.#run(waiter))
      }
    })
  }

  #popUsable(): Connection | undefined {
    for (let connection = this.#idle.pop(); connection !== undefined; connection = this.#idle.pop()) {
      if (connection.usable) return connection
      connection.close()
    }
    return undefined
  }

  #open(): Connection | undefined {
    if (this.#connections.size >= this.#owner.maxConnections) return undefined
    // The pool was evicted if its last connection has just turned out to be unusable.
    this.#owner.onOpen(this)
    const connection = new Connection(this)
    this.#connections.add(connection.inPool)
    return connection
  }
}
