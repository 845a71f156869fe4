/** A Redis that answers that 41 tokens are left, or anything else, hangs, and stops, over a real socket. */
import { Effect } from "effect"
import { once } from "node:events"
import * as net from "node:net"

/** Reads commands in the protocol of Redis, and returns their names. */
const readCommands = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/\*\d+\r\n\$\d+\r\n([A-Za-z]+)\r\n/g)].map(([, name]) => name!.toUpperCase())

/** Starts one, which is stopped when the scope closes. */
export const startRedis = Effect.acquireRelease(
  Effect.promise(async () => {
    const sockets = new Set<net.Socket>()
    const muted = new WeakSet<net.Socket>()
    const commands: Array<string> = []
    let scriptAnswer = "*2\r\n:41\r\n:0\r\n"
    let unanswered: Array<() => void> | undefined
    let connections = 0
    const server = net.createServer((socket) => {
      sockets.add(socket)
      connections++
      socket
        .on("error", () => {})
        .on("data", (data) => {
          for (const name of readCommands(data.toString("latin1"))) {
            commands.push(name)
            if (muted.has(socket)) continue
            const answer = () => void socket.write(name.startsWith("EVAL") ? scriptAnswer : "+OK\r\n")
            if (unanswered === undefined) answer()
            else unanswered.push(answer)
          }
        })
    })
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    return {
      url: `redis://127.0.0.1:${(server.address() as net.AddressInfo).port}`,
      /** The names of the commands so far. */
      commands: commands as ReadonlyArray<string>,
      /** Accepts connections and commands, and answers none. */
      hang: () => void (unanswered ??= []),
      /** Answers scripts with this, in the protocol of Redis, from now on. */
      answer: (answer: string) => void (scriptAnswer = answer),
      /** Answers the commands that wait, and those that follow. */
      resume: () => {
        const waiting = unanswered ?? []
        unanswered = undefined
        for (const answer of waiting) answer()
      },
      /** Answers nothing over the connections that are open, as when their packets are lost. */
      mute: () => {
        for (const socket of sockets) muted.add(socket)
      },
      /** The number of connections so far. */
      connections: () => connections,
      /** Closes all connections. */
      cut: () => {
        for (const socket of sockets) socket.destroy()
        sockets.clear()
      },
      /** Answers no command that waits, and all that follow. */
      discard: () => void (unanswered = undefined),
      stop: () => {
        server.close()
        for (const socket of sockets) socket.destroy()
      }
    }
  }),
  ({ stop }) => Effect.sync(stop)
)
