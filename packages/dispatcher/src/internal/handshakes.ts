/**
 * Bounds what TLS takes of the event loop.
 *
 * The receiver chooses its certificates, and OpenSSL checks the signatures of the whole chain before anybody learns that nobody
 * trusts it: 80 KiB of RSA keys with long exponents take half a second. So a handshake has few bytes, and no unusual keys (see
 * `handshakeReader.ts`). What the handshakes of a network take beyond the usual is a debt, which goes down by a fiftieth of the time
 * that passes. A network with a large debt is not connected to. Nor do its other handshakes go on, which began at the same time.
 *
 * Once TLS is established, session tickets and new keys take as long, and carry no data that anybody else could count. They are
 * counted here as they arrive: until a timer fires, the event loop reads 2 MiB of each connection.
 */
import type * as net from "node:net"
import { Duplex } from "node:stream"
import type * as tls from "node:tls"
import { contains, format, ipv4Behind, type Network, parse } from "./address.ts"
import { codeError } from "./classify.ts"
import { HandshakeReader } from "./handshakeReader.ts"

/** How many bytes a receiver may send until TLS is established. Chains in use have up to 8 KiB. */
const maxHandshakeBytes = 16 * 1024
/**
 * How many bytes may arrive from the first one of a request to the response head, and again after it: more than all heads that one
 * exchange may have.
 */
const maxPhaseBytes = 256 * 1024
/** How many of them are passed on without a look at the processor. Hardly a response has more. */
const maxUnmeasuredBytes = 16 * 1024
/** What a handshake may take of the processor without a debt, in milliseconds. It usually takes one or two. */
const usualMs = 5
/** The debt of a network that is connected to, in milliseconds: the processor may collect garbage in a handshake of anybody. */
const maxDebtMs = 20
/** A network has a fiftieth of the processor. */
const restMultiple = 50
const maxNetworks = 10_000

// Since Node 23.9. Before it, other threads and other processes would count.
const { threadCpuUsage } = process as Partial<Pick<NodeJS.Process, "threadCpuUsage">>

const processorMs = (): number => {
  if (threadCpuUsage === undefined) return 0
  const { system, user } = threadCpuUsage.call(process)
  return (system + user) / 1000
}

/** A subscriber has all addresses of a /64. All of IPv4 is behind one of NAT64. */
const networkOf = (address: string, nat64: ReadonlyArray<Network>): string => {
  const parsed = parse(address)
  if (parsed?.family !== 6) return address
  const translated = nat64.find((prefix) => contains(prefix, parsed))
  return translated === undefined ? parsed.groups.slice(0, 4).join(":") : format(ipv4Behind(parsed, translated.prefix))
}

/** The debts of networks whose handshakes, or messages of TLS after them, took long. */
export class Handshakes {
  /** When each has paid its debt. The one that was added last is at the end. */
  readonly #paidAt = new Map<string, number>()
  readonly #nat64: ReadonlyArray<Network>

  constructor(nat64: ReadonlyArray<Network>) {
    this.#nat64 = nat64
  }

  /** Whether the network of an address is not to be connected to now. */
  isResting(address: string): boolean {
    const network = networkOf(address, this.#nat64)
    const left = (this.#paidAt.get(network) ?? 0) - performance.now()
    if (left <= 0) this.#paidAt.delete(network)
    return left > maxDebtMs * restMultiple
  }

  /** Counts the work of a phase, which has taken `before` and now `milliseconds` of the processor. */
  note(address: string, before: number, milliseconds: number): void {
    const debt = Math.max(0, milliseconds - usualMs) - Math.max(0, before - usualMs)
    if (debt <= 0) return
    const network = networkOf(address, this.#nat64)
    const from = Math.max(performance.now(), this.#paidAt.get(network) ?? 0)
    this.#paidAt.delete(network)
    this.#paidAt.set(network, from + debt * restMultiple)
    if (this.#paidAt.size > maxNetworks) this.#paidAt.delete(this.#paidAt.keys().next().value!)
  }
}

/** What a connection asks and tells about its peer. */
export interface Peer {
  /** Whether its network is not to be connected to now. */
  readonly isResting: () => boolean
  /** Called with the milliseconds that TLS took of the processor in this phase, before a chunk and after it. */
  readonly onWork: (before: number, milliseconds: number) => void
  /** Too much arrives after TLS was established. The connection is to be closed. */
  readonly onFlood: () => void
}

/** What TLS reads of a TCP connection, and writes to it. Node passes what it reads on to OpenSSL before `push` returns. */
export class Transport extends Duplex {
  readonly #tcp: net.Socket
  readonly #peer: Peer
  #reader: HandshakeReader | undefined
  #isEstablished = false
  #received = 0
  #milliseconds = 0

  constructor(tcp: net.Socket, peer: Peer) {
    super()
    this.#tcp = tcp
    this.#peer = peer
    tcp.on("data", (chunk: Buffer) => this.#receive(chunk))
    tcp.on("end", () => this.push(null))
    // Its errors are for those who watch it. As those of a stream, they would reach the HTTP client after the end of its socket, which it
    // does not survive.
    tcp.on("error", () => this.destroy())
    tcp.on("close", () => this.destroy())
  }

  /** TLS begins, with this socket. */
  beginHandshake(socket: tls.TLSSocket): void {
    const reader = new HandshakeReader(
      { protocol: () => socket.getProtocol(), cipher: () => socket.getCipher().standardName },
      (bytes) => this.#pass(bytes)
    )
    socket.on("keylog", (line) => reader.onKeylog(line))
    this.#reader = reader
  }

  /** TLS is established, or a request or the rest of a response begins. */
  beginPhase(): void {
    this.#isEstablished = true
    this.#reader = undefined
    this.#received = 0
    this.#milliseconds = 0
  }

  #receive(chunk: Buffer): void {
    this.#received += chunk.length
    if (this.#isEstablished && this.#received <= maxUnmeasuredBytes) return this.#pass(chunk)
    if (this.#received > (this.#isEstablished ? maxPhaseBytes : maxHandshakeBytes)) return this.#refuse("does not end")
    // A handshake that took long itself may end.
    if ((this.#isEstablished || this.#milliseconds <= maxDebtMs) && this.#peer.isResting())
      return this.#refuse("is one of many that take long")
    const before = this.#milliseconds
    const startedAt = processorMs()
    if (this.#isEstablished) this.#pass(chunk)
    else if (this.#reader?.receive(chunk) === false)
      return this.#refuse("has a certificate with an unusual key, or is none")
    this.#milliseconds += processorMs() - startedAt
    this.#peer.onWork(before, this.#milliseconds)
  }

  #refuse(why: string): void {
    if (this.#isEstablished) this.#peer.onFlood()
    else this.destroy(codeError("GOVOICE_HANDSHAKE", `The TLS handshake ${why}`))
  }

  #pass(chunk: Buffer): void {
    if (!this.push(chunk)) this.#tcp.pause()
  }

  override _read(): void {
    this.#tcp.resume()
  }

  override _write(chunk: Buffer, encoding: BufferEncoding, callback: () => void): void {
    this.#tcp.write(chunk, encoding, () => callback())
  }

  override _final(callback: () => void): void {
    this.#tcp.end(() => callback())
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#tcp.destroy()
    callback(error)
  }
}
