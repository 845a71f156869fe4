/**
 * How much of what was sent the system has not taken, and how much it still holds. It takes up to some megabytes for each connection, and keeps them until the
 * client has read them. Node does not tell, and Linux does: in `/proc/net/tcp`, by the inode of the connection.
 */
import { readlinkSync } from "node:fs"
import { readFile } from "node:fs/promises"
import type { Socket } from "node:net"

// The fields of a line, from its end to `tx_queue`, and the inode.
const line = /^ *\d+: \S+ \S+ [\dA-F]{2} ([\dA-F]{8}):\S+ \S+ \S+ +\d+ +\d+ (\d+) /

// Outside the event loop: Linux looks through the whole of its table, which takes 20 ms also where there are few connections.
const readTables = async (): Promise<ReadonlyArray<string> | undefined> => {
  try {
    const tables = [await readFile("/proc/net/tcp", "latin1"), await readFile("/proc/net/tcp6", "latin1")]
    return tables.flatMap((table) => table.split("\n"))
  } catch {
    return undefined
  }
}

/** The handle of a socket, which is not part of the documented API. */
interface Handle {
  readonly fd?: number
  readonly writeQueueSize?: number
}

const handleOf = (socket: Socket & { readonly _handle?: Handle | null }): Handle => socket._handle ?? {}

/**
 * Returns how many bytes of what is sent on a connection the system has not taken. Node counts a write in full until it has taken all
 * of it, and the handle knows how much is left.
 */
export const leftToTake = (socket: Socket): number => handleOf(socket).writeQueueSize ?? 0

const inodes = new WeakMap<Socket, string>()

const inodeOf = (socket: Socket): string | undefined => {
  const known = inodes.get(socket)
  if (known !== undefined) return known
  const { fd } = handleOf(socket)
  try {
    if (fd === undefined || fd < 0) return undefined
    const inode = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/self/fd/${fd}`))?.[1]
    if (inode !== undefined) inodes.set(socket, inode)
    return inode
  } catch {
    return undefined
  }
}

/** Returns the bytes that the system holds of each connection, or `undefined` where it does not tell. */
export const read = async (sockets: Iterable<Socket>): Promise<ReadonlyMap<Socket, number> | undefined> => {
  const byInode = new Map<string | undefined, Socket>()
  for (const socket of sockets) byInode.set(inodeOf(socket), socket)
  const lines = await readTables()
  if (lines === undefined) return undefined
  const queued = new Map<Socket, number>()
  for (const text of lines) {
    const [, bytes, inode] = line.exec(text) ?? []
    const socket = inode === undefined ? undefined : byInode.get(inode)
    if (socket !== undefined) queued.set(socket, Number.parseInt(bytes!, 16))
  }
  return queued
}
