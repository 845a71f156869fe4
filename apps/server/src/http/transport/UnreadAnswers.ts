/**
 * Bounds the memory of answers that their clients do not read.
 *
 * An answer is in memory until the system has taken all of it, and then in that of the system until the client has read it. Beyond
 * the bound, connections of the network that has most to read end, the one that has most first: a client that reads has little left.
 */
import type { ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import * as SlidingWindows from "../../limits/SlidingWindows.ts"
import * as ClientAddress from "./ClientAddress.ts"
import * as SystemQueues from "./SystemQueues.ts"

/** The memory of one process. */
export interface UnreadAnswers {
  /** Counts an answer of so many bytes, which is about to be sent to the client with this address, until it is read. */
  readonly add: (response: ServerResponse, bytes: number, address: string | undefined) => void
}

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

/** Recounts take at most one part in so many of the time: for each, the system looks through all of its connections. */
const recountShare = 3

/**
 * Makes the memory. Where the system does not tell what it holds, an answer counts until it is handed over. What is with this process
 * is bounded at any time, and what is with the system by each recount.
 */
export const make = (options: UnreadOptions, queuesOf = SystemQueues.read): UnreadAnswers => {
  // Of all connections that had an answer, until they close.
  const unread = new Map<Socket, Answers>()
  let total = 0
  let isRecounting = false

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

  // Ends connections of which something is known to be unread, the one with most first, until the others take no more than the bound.
  // An answer is in memory in full until the system has taken all of it, also one of which nothing is sent yet.
  const endLargest = (queues?: ReadonlyMap<Socket, number>): void => {
    const inSystem = (socket: Socket): number => queues?.get(socket) ?? 0
    const bytesOf = (socket: Socket, { sending }: Answers): number => Math.max(sending, inSystem(socket))
    let excess = -options.maxBytes
    for (const [socket, answers] of unread) excess += bytesOf(socket, answers)
    if (excess <= 0) return
    const connections = [...unread]
      .map(([socket, answers]) => ({
        socket,
        bytes: bytesOf(socket, answers),
        left: SystemQueues.leftToTake(socket) + inSystem(socket),
        network: networkOf(answers.address)
      }))
      .filter(({ left }) => left > 0)
    const networks = new Map<string, number>()
    for (const { left, network } of connections) networks.set(network, (networks.get(network) ?? 0) + left)
    const largestFirst = connections.sort(
      (a, b) => networks.get(b.network)! - networks.get(a.network)! || b.left - a.left
    )
    for (const { bytes, socket } of largestFirst) {
      if (excess <= 0) return
      excess -= bytes
      remove(socket)
      // A reset, because the system would keep what is unsent after a close.
      socket.resetAndDestroy()
    }
  }

  // What was taken is counted in full until it has to be known, and also what is taken while the system is asked. A small answer may
  // still be with the socket.
  const recount = async (): Promise<void> => {
    const before = [...unread].map(([socket, answers]) => ({ socket, answers, taken: answers.taken }))
    const queues = await queuesOf(before.map(({ socket }) => socket))
    for (const { answers, socket, taken } of before) {
      if (unread.get(socket) !== answers) continue
      const read = taken - Math.min(taken, (queues?.get(socket) ?? 0) + socket.writableLength)
      total -= read
      answers.taken -= read
    }
    endLargest(queues)
  }

  const recountWhileTooMany = async (): Promise<void> => {
    if (isRecounting) return
    isRecounting = true
    while (total > options.maxBytes) {
      const beganAt = performance.now()
      await recount()
      await sleep((recountShare - 1) * (performance.now() - beganAt), undefined, { ref: false })
    }
    isRecounting = false
  }

  return {
    add: (response, bytes, address) => {
      const { socket } = response.req
      if (response.destroyed || socket.destroyed) return
      const answers = answersOf(socket)
      answers.address = address
      total += bytes
      if (bytes <= options.smallBytes) answers.taken += bytes
      else {
        answers.sending += bytes
        response.once("close", () => take(socket, answers, bytes))
      }
      if (total <= options.maxBytes) return
      endLargest()
      void recountWhileTooMany()
    }
  }
}
