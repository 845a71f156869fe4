/**
 * The connections to one target: a scheme, host, port and judged address.
 *
 * The address is part of the identity, so that a connection that is used again always ends at an address that was judged
 * for the attempt which uses it.
 */
import type { Attempt } from "./attempt.ts"
import { Connection } from "./connection.ts"
import type { Engine } from "./engine.ts"
import { Entry, List } from "./list.ts"

export class Target {
  readonly engine: Engine
  readonly kept = new Entry<Target>(this)
  readonly key: string
  readonly secure: boolean
  readonly hostname: string
  readonly port: number
  readonly origin: string
  readonly address: string
  /** The TLS session to resume. Names share none, since a resumed session is not checked against a name again. */
  session: Buffer | undefined
  readonly connections = new List<Connection>()
  /** Attempts that wait for a connection, in the order they came. */
  readonly waiters = new List<Attempt>()
  /** Idle connections, the one used last at the end. */
  readonly #idle: Array<Connection> = []

  constructor(engine: Engine, key: string, attempt: Attempt, address: string) {
    this.engine = engine
    this.key = key
    this.secure = attempt.url.secure
    this.hostname = attempt.url.hostname
    this.port = attempt.url.port
    this.origin = attempt.url.origin
    this.address = address
  }

  get hasIdle(): boolean {
    return this.#idle.length > 0
  }

  /** Whether an attempt that comes now need not wait. */
  get hasRoom(): boolean {
    return this.waiters.size === 0 && this.#hasFree
  }

  get #hasFree(): boolean {
    return this.hasIdle || this.connections.size < this.engine.maxConnections
  }

  /** Whether nothing is under way. */
  get quiet(): boolean {
    return this.connections.size === this.#idle.length && this.waiters.size === 0
  }

  /** Runs the attempt over an idle connection, over a new one, or as soon as one is free. */
  take(attempt: Attempt): void {
    // Whoever waits came first, even if a connection is free by now.
    if (this.waiters.size > 0 || !this.#run(attempt)) {
      this.waiters.add(attempt.waiting)
      attempt.waitsFor = this
      this.engine.instruments.move("waiting", 1)
    }
  }

  #run(attempt: Attempt): boolean {
    const connection = this.#pop() ?? this.#open()
    if (connection === undefined) return false
    attempt.onAcquired()
    connection.run(attempt)
    return true
  }

  leave(attempt: Attempt): void {
    attempt.waitsFor = undefined
    if (this.waiters.delete(attempt.waiting)) this.engine.instruments.move("waiting", -1)
  }

  /** Takes back a connection whose response was read to its end. */
  release(connection: Connection): void {
    if (!connection.usable || !this.engine.keeps(this)) {
      connection.close()
      return
    }
    this.#idle.push(connection)
    this.#serve()
  }

  /** Forgets a connection that was closed. */
  remove(connection: Connection): void {
    if (this.connections.delete(connection.ofTarget)) this.engine.instruments.move("connections", -1)
    const index = this.#idle.indexOf(connection)
    if (index !== -1) this.#idle.splice(index, 1)
    if (this.waiters.size > 0) this.#serve()
    else if (this.connections.size === 0 && !this.#worthKeeping) this.engine.forget(this)
  }

  /** Whether it has a session to resume, and there are not too many targets to remember that. */
  get #worthKeeping(): boolean {
    return this.session !== undefined && this.engine.keeps(this)
  }

  close(): void {
    for (const connection of this.connections) connection.close()
  }

  // Never at once: this is called from inside of undici's parser, which must not be entered twice.
  #serve(): void {
    if (this.waiters.size === 0) return
    queueMicrotask(() => {
      for (let { first } = this.waiters; first !== undefined && this.#hasFree; { first } = this.waiters) {
        const attempt = first
        this.leave(attempt)
        attempt.onTurn(() => this.#run(attempt))
      }
    })
  }

  #pop(): Connection | undefined {
    for (let connection = this.#idle.pop(); connection !== undefined; connection = this.#idle.pop()) {
      if (connection.usable) return connection
      connection.close()
    }
    return undefined
  }

  #open(): Connection | undefined {
    if (this.connections.size >= this.engine.maxConnections) return undefined
    // It was forgotten if the last connection it had has just turned out to be of no use.
    this.engine.use(this)
    const connection = new Connection(this)
    this.connections.add(connection.ofTarget)
    this.engine.instruments.move("connections", 1)
    return connection
  }
}
