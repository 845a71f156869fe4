/**
 * How much of what was sent the system still holds. It takes up to some megabytes for each connection, and keeps them until the
 * client has read them. Node does not tell, and Linux does: in `/proc/net/tcp`, by the inode of the connection.
 */
import { readFileSync, readlinkSync } from "node:fs"
import type { Socket } from "node:net"

// The fields of a line, from its end to `tx_queue`, and the inode.
const line = /^ *\d+: \S+ \S+ [\dA-F]{2} ([\dA-F]{8}):\S+ \S+ \S+ +\d+ +\d+ (\d+) /

const readTables = (): ReadonlyArray<string> | undefined => {
  try {
    return ["/proc/net/tcp", "/proc/net/tcp6"].flatMap((path) => readFileSync(path, "latin1").split("\n"))
  } catch {
    return undefined
  }
}

// The handle has no type: it is not part of the documented API.
const inodeOf = (socket: Socket): string | undefined => {
  const { fd } = (socket as unknown as { readonly _handle?: { readonly fd?: number } | null })._handle ?? {}
  try {
    return fd === undefined || fd < 0 ? undefined : /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/self/fd/${fd}`))?.[1]
  } catch {
    return undefined
  }
}

/** Returns the bytes that the system holds of each connection, or `undefined` where it does not tell. */
export const read = (sockets: Iterable<Socket>): ReadonlyMap<Socket, number> | undefined => {
  const byInode = new Map<string | undefined, Socket>()
  for (const socket of sockets) byInode.set(inodeOf(socket), socket)
  const lines = readTables()
  if (lines === undefined) return undefined
  const queued = new Map<Socket, number>()
  for (const text of lines) {
    const [, bytes, inode] = line.exec(text) ?? []
    const socket = inode === undefined ? undefined : byInode.get(inode)
    if (socket !== undefined) queued.set(socket, Number.parseInt(bytes!, 16))
  }
  return queued
}
