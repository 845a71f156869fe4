/** A proxy between the server and its database, which can cut or hold the connections. */
import { once } from "node:events"
import { connect, createServer, type Socket } from "node:net"

export const startProxy = async (url: string) => {
  let target = new URL(url)
  const sockets = new Set<Socket>()
  let state: "open" | "held" | "cut" = "open"

  const hang = (socket: Socket) => socket.unpipe().pause()
  const server = createServer((near) => {
    if (state === "cut") return void near.destroy()
    const far = connect(Number(target.port), target.hostname)
    for (const [socket, other] of [
      [near, far],
      [far, near]
    ] as const) {
      sockets.add(socket)
      socket.on("error", () => {})
      socket.on("close", () => {
        sockets.delete(socket)
        other.destroy()
      })
    }
    if (state === "held") [near, far].forEach(hang)
    else near.pipe(far).pipe(near)
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  const proxied = new URL(url)
  proxied.port = String(typeof address === "object" && address !== null ? address.port : 0)

  const destroy = () => sockets.forEach((socket) => socket.destroy())
  return {
    url: proxied.href,
    /** Closes all connections and refuses new ones, like a stopped database. */
    cut: () => {
      state = "cut"
      destroy()
    },
    /** Nothing is answered any more, and nothing is closed: a database that hangs. */
    hold: () => {
      state = "held"
      sockets.forEach(hang)
    },
    /** Closes all connections and leads new ones to another database, as an address that follows the primary does. */
    leadTo: (other: string) => {
      target = new URL(other)
      destroy()
    },
    /** Forwards new connections and drops the held ones, like a database after a failover. */
    pass: () => {
      state = "open"
    },
    open: () => {
      if (state === "held") destroy()
      state = "open"
    },
    close: () => {
      destroy()
      server.close()
    }
  }
}
