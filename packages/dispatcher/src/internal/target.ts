/**
 * The connections to one target: a scheme, host, port and judged address.
 *
 * The address is part of the identity, so that a connection that is used again always ends at an address that was judged
 * for the attempt which uses it.
 */
import type { Attempt } from "./attempt.ts"
import { Connection } from "./connection.ts"
import type { Engine } from "./engine.ts"

export class Target {
  readonly engine: Engine
  readonly key: string
  readonly secure: boolean
  readonly hostname: string
  readonly port: number
  readonly origin: string
  readonly address: string
  /** The TLS session to resume. Names share none, since a resumed session is not checked against a name again. */
  session: Buffer | undefined
  /** Idle connections, the one used last at the end. */
  readonly idle: Array<Connection> = []
  readonly connections = new Set<Connection>()
  readonly waiters = new Set<Attempt>()

  constructor(engine: Engine, key: string, attempt: Attempt, address: string) {
    this.engine = engine
    this.key = key
    this.secure = attempt.target.secure
    this.hostname = attempt.target.hostname
    this.port = attempt.target.port
    this.origin = attempt.target.origin
    this.address = address
  }

  /** Whether an attempt that comes now need not wait. */
  get hasRoom(): boolean {
    return this.idle.length > 0 || this.connections.size < this.engine.maxConnections
  }

  /** Runs the attempt over an idle connection, over a new one, or when one is free. */
  take(attempt: Attempt): void {
    const connection = this.#idle() ?? this.#open()
    if (connection === undefined) {
      this.waiters.add(attempt)
      attempt.waitsFor = this
      return
    }
    attempt.onAcquired()
    connection.run(attempt)
  }

  /** Takes back a connection whose response has been read to its end. */
  release(connection: Connection): void {
    connection.attempt = undefined
    if (connection.closed) return
    if (!this.engine.keeps(this, connection)) {
      connection.close()
      return
    }
    this.idle.push(connection)
    this.#serve()
  }

  /** Forgets a connection that was closed. */
  remove(connection: Connection): void {
    this.connections.delete(connection)
    const index = this.idle.indexOf(connection)
    if (index !== -1) this.idle.splice(index, 1)
    this.engine.removed(connection)
    if (this.waiters.size > 0) this.#serve()
    else if (this.connections.size === 0) this.engine.forget(this)
  }

  // Never at once: this is called from inside of undici's parser, which must not be entered twice.
  #serve(): void {
    if (this.waiters.size === 0) return
    queueMicrotask(() => {
      for (const attempt of this.waiters) {
        if (!this.hasRoom) return
        this.waiters.delete(attempt)
        attempt.waitsFor = undefined
        this.take(attempt)
      }
    })
  }

  #idle(): Connection | undefined {
    for (let connection = this.idle.pop(); connection !== undefined; connection = this.idle.pop()) {
      if (connection.usable) return connection
      connection.close()
    }
    return undefined
  }

  #open(): Connection | undefined {
    if (this.connections.size >= this.engine.maxConnections) return undefined
    const connection = new Connection(this, performance.now())
    this.connections.add(connection)
    return connection
  }
}
