/**
 * Bounds the memory of answers that their clients do not read.
 *
 * An answer is in memory until the system has taken all of it, and then in that of the system until the client has read it. Beyond
 * the bound, the connection that has most to read ends: a client that reads has little left.
 */
import type { ServerResponse } from "node:http"
import type { Socket } from "node:net"
import * as SystemQueues from "./SystemQueues.ts"

/** The memory of one process. */
export interface UnreadAnswers {
  /** Counts an answer of so many bytes, which is about to be sent, until it is read. */
  readonly add: (response: ServerResponse, bytes: number) => void
}

// Node counts a write in full until the system has taken all of it. The handle knows how much is left, and has no type: it is
// not part of the documented API.
const leftToTake = (socket: Socket): number =>
  (socket as unknown as { readonly _handle?: { readonly writeQueueSize?: number } | null })._handle?.writeQueueSize ?? 0

/** The answers of a connection, in bytes: those that the system has not taken in full, and those that it has. */
interface Answers {
  sending: number
  taken: number
}

export interface UnreadOptions {
  readonly maxBytes: number
  /** Answers of up to so many bytes are not counted. */
  readonly smallBytes: number
}

/** Makes the memory. Where the system does not tell what it holds, an answer counts until it is handed over. */
export const make = (options: UnreadOptions, queuesOf = SystemQueues.read): UnreadAnswers => {
  const unread = new Map<Socket, Answers>()
  let total = 0

  const remove = (socket: Socket): void => {
    const { sending, taken } = unread.get(socket) ?? { sending: 0, taken: 0 }
    total -= sending + taken
    unread.delete(socket)
  }

  const take = (socket: Socket, answers: Answers, bytes: number): void => {
    if (unread.get(socket) !== answers) return
    answers.sending -= bytes
    answers.taken += bytes
  }

  // What was taken is counted in full until it has to be known.
  const recount = (): void => {
    const queues = queuesOf(unread.keys())
    for (const [socket, answers] of unread) {
      const left = Math.min(answers.taken, queues?.get(socket) ?? 0)
      total -= answers.taken - left
      answers.taken = left
      if (answers.sending + left === 0) unread.delete(socket)
    }
  }

  const findMost = (): Socket | undefined => {
    let most: Socket | undefined
    let mostBytes = 0
    for (const [socket, { taken }] of unread) {
      const bytes = leftToTake(socket) + taken
      if (bytes > mostBytes) {
        most = socket
        mostBytes = bytes
      }
    }
    return most
  }

  return {
    add: (response, bytes) => {
      const { socket } = response
      if (bytes <= options.smallBytes || response.destroyed || socket === null) return
      let answers = unread.get(socket)
      if (answers === undefined) {
        answers = { sending: 0, taken: 0 }
        unread.set(socket, answers)
        socket.once("close", () => remove(socket))
      }
      const counted = answers
      counted.sending += bytes
      total += bytes
      response.once("close", () => take(socket, counted, bytes))
      if (total > options.maxBytes) recount()
      while (total > options.maxBytes) {
        const most = findMost()
        if (most === undefined) return
        remove(most)
        // A reset, because the system would keep what is unsent after a close.
        most.resetAndDestroy()
      }
    }
  }
}
