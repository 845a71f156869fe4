/** A TCP proxy that loses packets: a direction of a connection goes silent, and nothing of it is closed. */
import { once } from "node:events"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"

/** Which directions of a connection are lost: what the client sends, what it is sent, or both. */
export type Lost = "questions" | "answers" | "both"

interface Link {
  readonly near: Socket
  readonly far: Socket
  lost: Lost | undefined
}

export interface Swallower {
  readonly port: number
  /** Loses packets of each open connection with this probability, and of all new ones until `heal` if `isTotal`. */
  readonly swallow: (lost: () => Lost, share: number, isTotal: boolean) => void
  /** New connections are whole again. Those that were lost stay lost. */
  readonly heal: () => void
  readonly close: () => Promise<void>
}

/** Without an answer to its probes for so long, Postgres ends a session. */
const probedMs = 20_000

/** Starts a proxy before a port of this machine. */
export const startSwallower = async (target: number): Promise<Swallower> => {
  const links = new Set<Link>()
  let ofNew: (() => Lost) | undefined

  const pass = (link: Link, from: Socket, to: Socket, direction: Lost) => {
    const isLost = () => link.lost === "both" || link.lost === direction
    from.on("data", (chunk) => void (isLost() || to.destroyed || to.write(chunk)))
    from.on("error", () => {})
    // An end is a packet too. A client that is gone is missed by the probes of Postgres.
    from.on("close", () => {
      if (!isLost()) to.destroy()
      else if (from === link.near) setTimeout(() => to.destroy(), probedMs).unref()
    })
  }

  const server = createServer((near) => {
    const far = connect(target, "127.0.0.1")
    const link: Link = { near, far, lost: ofNew?.() }
    links.add(link)
    pass(link, near, far, "questions")
    pass(link, far, near, "answers")
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")

  return {
    port: (server.address() as AddressInfo).port,
    swallow: (lost, share, isTotal) => {
      if (isTotal) ofNew = lost
      for (const link of links) {
        if (link.near.destroyed) links.delete(link)
        else if (Math.random() < share) link.lost = lost()
      }
    },
    heal: () => {
      ofNew = undefined
    },
    close: async () => {
      for (const { far, near } of links) {
        near.destroy()
        far.destroy()
      }
      server.close()
      await once(server, "close")
    }
  }
}
