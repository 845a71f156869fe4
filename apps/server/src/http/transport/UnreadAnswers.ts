/**
 * Bounds the memory of answers that their clients do not read.
 *
 * An answer is in memory until the system has taken all of it, and then in that of the system until the client has read it. Beyond
 * the bound, connections of the network that has most to read end, the one that has most first: a client that reads has little left.
 */
import type { ServerResponse } from "node:http"
import type { Socket } from "node:net"
import * as SlidingWindows from "../../limits/SlidingWindows.ts"
import * as ClientAddress from "./ClientAddress.ts"
import * as SystemQueues from "./SystemQueues.ts"

/** The memory of one process. */
export interface UnreadAnswers {
  /** Counts an answer of so many bytes, which is about to be sent to the client with this address, until it is read. */
  readonly add: (response: ServerResponse, bytes: number, address: string | undefined) => void
}

// Node counts a write in full until the system has taken all of it. The handle knows how much is left, and has no type: it is
// not part of the documented API.
const leftToTake = (socket: Socket): number =>
  (socket as unknown as { readonly _handle?: { readonly writeQueueSize?: number } | null })._handle?.writeQueueSize ?? 0

/** The answers of a connection, in bytes: those that the system has not taken in full, and those that it has. */
interface Answers {
  sending: number
  taken: number
  /** Of the client of the last one. */
  address: string | undefined
}

const networkOf = (address: string | undefined): string => {
  const network = ClientAddress.group(address)
  return SlidingWindows.widerNetworks(network)?.[48] ?? network
}

export interface UnreadOptions {
  readonly maxBytes: number
  /** Answers of up to so many bytes count as taken by the system when they are sent. */
  readonly smallBytes: number
}

/** A recount costs some milliseconds where there are many connections: one for each such part of the bound. */
const partsBetweenRecounts = 8

/**
 * Makes the memory. Where the system does not tell what it holds, an answer counts until it is handed over. Beyond the bound, answers
 * may have a part of it more, until the next recount.
 */
export const make = (options: UnreadOptions, queuesOf = SystemQueues.read): UnreadAnswers => {
  // Of all connections that had an answer, until they close.
  const unread = new Map<Socket, Answers>()
  let total = 0
  let sinceRecount = 0

  const remove = (socket: Socket): void => {
    const answers = unread.get(socket)
    if (answers !== undefined) total -= answers.sending + answers.taken
    unread.delete(socket)
  }

  const answersOf = (socket: Socket): Answers => {
    const known = unread.get(socket)
    if (known !== undefined) return known
    const answers = { sending: 0, taken: 0, address: undefined }
    unread.set(socket, answers)
    socket.once("close", () => remove(socket))
    return answers
  }

  const take = (socket: Socket, answers: Answers, bytes: number): void => {
    if (unread.get(socket) !== answers) return
    answers.sending -= bytes
    answers.taken += bytes
  }

  // What was taken is counted in full until it has to be known. A small answer may still be with the socket.
  const recount = (): void => {
    sinceRecount = 0
    const taken = [...unread].filter(([, answers]) => answers.taken > 0)
    const queues = queuesOf(taken.map(([socket]) => socket))
    for (const [socket, answers] of taken) {
      const left = Math.min(answers.taken, (queues?.get(socket) ?? 0) + socket.writableLength)
      total -= answers.taken - left
      answers.taken = left
    }
  }

  const endLargest = (): void => {
    const connections = [...unread]
      .map(([socket, { address, taken }]) => ({
        socket,
        bytes: leftToTake(socket) + taken,
        network: networkOf(address)
      }))
      .filter(({ bytes }) => bytes > 0)
    const networks = new Map<string, number>()
    for (const { bytes, network } of connections) networks.set(network, (networks.get(network) ?? 0) + bytes)
    const largestFirst = connections.sort(
      (a, b) => networks.get(b.network)! - networks.get(a.network)! || b.bytes - a.bytes
    )
    for (const { socket } of largestFirst) {
      if (total <= options.maxBytes) return
      remove(socket)
      // A reset, because the system would keep what is unsent after a close.
      socket.resetAndDestroy()
    }
  }

  return {
    add: (response, bytes, address) => {
      const { socket } = response.req
      if (response.destroyed || socket.destroyed) return
      const answers = answersOf(socket)
      answers.address = address
      const isDue = total + bytes > options.maxBytes && sinceRecount + bytes >= options.maxBytes / partsBetweenRecounts
      // Before this one is counted, of which nothing is sent yet.
      if (isDue) recount()
      total += bytes
      sinceRecount += bytes
      if (bytes <= options.smallBytes) answers.taken += bytes
      else {
        answers.sending += bytes
        response.once("close", () => take(socket, answers, bytes))
      }
      if (isDue && total > options.maxBytes) endLargest()
    }
  }
}
