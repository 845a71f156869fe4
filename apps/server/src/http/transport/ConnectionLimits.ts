/**
 * Limits what one client can do to a server with connections alone: how many it has, and how long it lets an answer wait.
 */
import type { Server } from "node:http"
import type { Socket } from "node:net"
import * as SlidingWindows from "../../limits/SlidingWindows.ts"
import * as ClientAddress from "./ClientAddress.ts"
import * as SystemQueues from "./SystemQueues.ts"

export interface AddressOptions {
  /** How many connections an IPv4 address may have, and an IPv6 network of 64 bits. */
  readonly perAddress: number
  /** Whether an address may have any number. */
  readonly isExempt: (address: string | undefined) => boolean
  /** Called for each connection that is closed because its address, or a network around it, has too many. */
  readonly onRefused: (network: string) => void
}

/** The networks that a connection counts for, each with the times of the limit that it has. */
const networksOf = (
  address: string | undefined
): ReadonlyArray<{ readonly name: string; readonly multiple: number }> => {
  const name = ClientAddress.group(address)
  const wider = SlidingWindows.widerNetworks(name)
  if (wider === undefined) return [{ name, multiple: 1 }]
  const { multiples } = SlidingWindows
  return [
    { name, multiple: 1 },
    ...([56, 48] as const).map((bits) => ({ name: wider[bits], multiple: multiples[bits] }))
  ]
}

/** Closes connections beyond the limit of their address as they come. */
export const limitByAddress = (server: Server, { isExempt, onRefused, perAddress }: AddressOptions): void => {
  const counts = new Map<string, number>()

  server.on("connection", (socket: Socket) => {
    const { remoteAddress } = socket
    if (isExempt(remoteAddress)) return
    const networks = networksOf(remoteAddress)
    const full = networks.find(({ multiple, name }) => (counts.get(name) ?? 0) >= multiple * perAddress)
    if (full !== undefined) {
      socket.destroy()
      return onRefused(full.name)
    }
    for (const { name } of networks) counts.set(name, (counts.get(name) ?? 0) + 1)
    socket.once("close", () => {
      for (const { name } of networks) {
        const left = counts.get(name)! - 1
        if (left === 0) counts.delete(name)
        else counts.set(name, left)
      }
    })
  })
}

interface Progress {
  /** Bytes that the kernel has taken, up to the end of the last write. */
  acknowledged: number
  /** Bytes of the write in progress that the kernel has not taken. */
  queued: number
  /** Since when neither has moved. */
  since: number
}

export interface StallOptions {
  /** How long an answer may wait for the client to read on. */
  readonly stalledMs: number
  readonly checkMs: number
}

/** Ends connections whose answer does not move, until the server closes. Data from the client is no progress. */
export const endStalled = (server: Server, { checkMs, stalledMs }: StallOptions): void => {
  const connections = new Map<Socket, Progress>()

  const check = (socket: Socket, progress: Progress, now: number): void => {
    const queued = SystemQueues.leftToTake(socket)
    const acknowledged = (socket.bytesWritten ?? 0) - socket.writableLength
    const isPending = socket.writableLength > 0 || queued > 0
    if (!isPending || acknowledged > progress.acknowledged || queued < progress.queued) progress.since = now
    progress.acknowledged = acknowledged
    progress.queued = queued
    // A reset, because the kernel would keep what is unsent after a close.
    if (now - progress.since >= stalledMs) socket.resetAndDestroy()
  }

  const timer = setInterval(() => {
    const now = performance.now()
    for (const [socket, progress] of connections) check(socket, progress, now)
  }, checkMs).unref()
  server.once("close", () => clearInterval(timer))
  server.on("connection", (socket: Socket) => {
    connections.set(socket, { acknowledged: 0, queued: 0, since: performance.now() })
    socket.once("close", () => connections.delete(socket))
  })
}
