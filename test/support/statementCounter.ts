/** Counts the statements that a server executes on its database, and the round trips that it waits for. */
import { once } from "node:events"
import { connect, createServer, type Socket } from "node:net"

export interface Counts {
  statements: number
  roundTrips: number
}

// Messages of the protocol of Postgres after the start: a letter and a length (protocol 3, §55.2).
const makeCounter = (counts: Counts) => {
  let pending = Buffer.alloc(0)
  let started = false
  return (chunk: Buffer) => {
    pending = Buffer.concat([pending, chunk])
    for (;;) {
      const head = started ? 1 : 0
      if (pending.length < head + 4) return
      const length = head + pending.readUInt32BE(head)
      if (pending.length < length) return
      const letter = started ? String.fromCharCode(pending[0]!) : ""
      if (letter === "E") counts.statements++
      if (letter === "Q") counts.statements++
      if (letter === "S" || letter === "Q") counts.roundTrips++
      // A request for TLS precedes the startup message, and has its own number.
      if (!started && pending.readUInt32BE(4) !== 80_877_103) started = true
      pending = pending.subarray(length)
    }
  }
}

/** Puts a counter between a server and the database at `url`. */
export const startCounter = async (url: string) => {
  const counts: Counts = { statements: 0, roundTrips: 0 }
  const target = new URL(url)
  const sockets = new Set<Socket>()
  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname)
    const count = makeCounter(counts)
    near.on("data", count)
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.setNoDelay(true)
      socket.on("error", () => {})
      socket.on("close", () => {
        near.destroy()
        far.destroy()
      })
    }
    near.pipe(far).pipe(near)
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  const counted = new URL(url)
  counted.port = String(typeof address === "object" && address !== null ? address.port : 0)
  return {
    url: counted.href,
    counts,
    close: () => {
      for (const socket of sockets) socket.destroy()
      server.close()
    }
  }
}
