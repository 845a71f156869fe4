/** A proxy in front of Postgres that counts the statements of a client, and tells when one of them is reached. */
import { connect, createServer, type Socket } from "node:net"
import type { AddressInfo } from "node:net"

/** Counts statements over several proxies. */
export class StatementCounter {
  count = 0
  #nth = Infinity
  #reached: () => void = () => {}
  #isHeld = false
  readonly #servers: Array<ReturnType<typeof createServer>> = []
  readonly #sockets = new Set<Socket>()

  /** Starts to count. `reached` is called at the `nth` statement, which is forwarded, or held for ever. */
  arm(nth: number, isHeld: boolean, reached: () => void): void {
    this.count = 0
    this.#nth = nth
    this.#isHeld = isHeld
    this.#reached = reached
  }

  /** Counts a statement, and returns whether it is forwarded. */
  #note(): boolean {
    this.count += 1
    if (this.count !== this.#nth) return true
    const isForwarded = !this.#isHeld
    // What is forwarded has left before the client ends.
    setTimeout(this.#reached, isForwarded ? 5 : 0)
    return isForwarded
  }

  /** Starts a proxy, and returns the URL with its address. */
  async before(url: string): Promise<string> {
    const { hostname, port } = new URL(url)
    const server = createServer((near) => {
      const far = connect(Number(port), hostname)
      for (const [socket, other] of [
        [near, far],
        [far, near]
      ] as const) {
        this.#sockets.add(socket)
        socket.on("error", () => {})
        socket.on("close", () => {
          this.#sockets.delete(socket)
          other.destroy()
        })
      }
      far.pipe(near)
      this.#count(near, far)
    })
    this.#servers.push(server)
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const proxied = new URL(url)
    proxied.port = String((server.address() as AddressInfo).port)
    return proxied.href
  }

  // Messages have a type, a length and a body; the first one has no type. A statement that is repeated, as in a poll, counts once.
  #count(near: Socket, far: Socket): void {
    let rest = Buffer.alloc(0)
    let isStarted = false
    let isHeld = false
    let statement = ""
    let counted = ""
    near.on("data", (chunk: Buffer) => {
      if (isHeld) return
      rest = Buffer.concat([rest, chunk])
      let end = 0
      while (rest.length - end >= (isStarted ? 5 : 4)) {
        const start = end + (isStarted ? 1 : 0)
        const length = rest.readInt32BE(start)
        if (rest.length < start + length) break
        const body = rest.subarray(start + 4, start + length)
        const type = isStarted ? String.fromCharCode(rest[end]!) : ""
        if (type === "" && body.includes("replication")) {
          far.write(rest)
          near.removeAllListeners("data")
          near.pipe(far)
          return
        }
        if (type === "P") statement = body.toString("latin1").split("\0", 2).join()
        if (type === "B") statement = body.toString("latin1").split("\0", 2)[1] || statement
        if (type === "Q" || type === "E") {
          const text = type === "Q" ? body.toString("latin1") : statement
          if (text !== counted && !this.#note()) {
            far.write(rest.subarray(0, end))
            isHeld = true
            return
          }
          counted = text
        }
        // Requests for encryption have 8 bytes. The start of the session follows the answer.
        isStarted ||= length > 8
        end = start + length
      }
      far.write(rest.subarray(0, end))
      rest = rest.subarray(end)
    })
  }

  close(): void {
    this.#sockets.forEach((socket) => socket.destroy())
    this.#servers.forEach((server) => server.close())
  }
}
