/** A receiver on loopback that plays scenarios, over plain TCP or TLS. */
import * as net from "node:net"
import * as tls from "node:tls"
import type { Script } from "./response.ts"
import { type ConnectionPlan, type Scenario, scenario } from "./scenario.ts"

export interface Receiver {
  readonly port: number
  /** Sockets that are open on this side, but for TLS that is disturbed or never read: it does not notice a close. */
  readonly open: ReadonlySet<net.Socket>
  /** Begins a case: what is connected from now on belongs to it. */
  readonly begin: (number: number) => void
  /** The status that a request has to end with, where it was answered by a response that leaves no choice. */
  readonly expected: (path: string) => number | undefined
  readonly close: () => Promise<void>
}

const ignore = () => {}

const sleep = (milliseconds: number) => new Promise((done) => setTimeout(done, milliseconds))

/** Resets a connection. Node leaves the handle of a socket open that is reset after it was ended. */
const reset = (socket: net.Socket) => (socket.writableEnded ? socket.destroy() : socket.resetAndDestroy())

const play = async (socket: net.Socket, { end, endPauseMs, writes }: Script): Promise<void> => {
  for (const { bytes, pauseMs } of writes) {
    if (pauseMs > 0) await sleep(pauseMs)
    if (socket.destroyed || socket.writableEnded) return
    if (bytes.length > 0) socket.write(bytes)
  }
  if (endPauseMs > 0) await sleep(endPauseMs)
  if (end === "FIN") socket.end()
  // TLS has a reset of the socket below alone.
  else if (end === "RST" && !(socket instanceof tls.TLSSocket)) reset(socket)
  else if (end !== "keep open") socket.destroy()
}

/** Calls back for each request with its path: after the head, or after the body. */
const readRequests = (socket: net.Socket, early: boolean, onRequest: (path: string) => void): void => {
  let received = ""
  let skip = 0
  let path: string | undefined
  const done = () => {
    if (path !== undefined && !early) onRequest(path)
    path = undefined
  }
  socket.on("data", (chunk: Buffer) => {
    received += chunk.toString("latin1")
    for (;;) {
      const skipped = Math.min(skip, received.length)
      received = received.slice(skipped)
      skip -= skipped
      if (skip > 0) return
      done()
      const end = received.indexOf("\r\n\r\n")
      if (end === -1) return
      const head = received.slice(0, end)
      received = received.slice(end + 4)
      path = head.split(" ", 2)[1] ?? ""
      skip = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0)
      if (early) onRequest(path)
    }
  })
}

export const startReceiver = async (
  seed: number,
  certificate: tls.SecureContextOptions | undefined
): Promise<Receiver> => {
  const secureContext = certificate === undefined ? undefined : tls.createSecureContext(certificate)
  const all = new Set<net.Socket>()
  const open = new Set<net.Socket>()
  const expected = new Map<string, number | undefined>()
  let current = 0
  let present: Scenario = scenario(seed, 0)
  let connections = 0

  const track = (socket: net.Socket, noticesClose: boolean) => {
    all.add(socket)
    if (noticesClose) open.add(socket)
    socket.on("error", ignore)
    socket.once("close", () => {
      all.delete(socket)
      open.delete(socket)
    })
  }

  const disturb = (
    { bytes, disturbance, disturbanceMs }: ConnectionPlan,
    raw: net.Socket,
    socket: net.Socket
  ): void => {
    const after = (run: () => unknown) => void (disturbanceMs === 0 ? run() : setTimeout(run, disturbanceMs))
    if (disturbance === "RST at once") after(() => reset(raw))
    else if (disturbance === "FIN at once") after(() => raw.end())
    else if (disturbance === "bytes at once") after(() => socket.writable && socket.write(bytes))
    else if (disturbance === "raw bytes") after(() => raw.writable && raw.write(bytes))
    else if (disturbance === "raw end") after(() => raw.destroy())
  }

  const server = net.createServer((raw) => {
    const number = current
    const plan = present.connection(connections++)
    track(raw, secureContext === undefined || (plan.disturbance === "none" && plan.reads))
    let socket = raw
    if (secureContext !== undefined) {
      socket = new tls.TLSSocket(raw, { isServer: true, secureContext, ALPNProtocols: ["http/1.1"] })
      track(socket, false)
    }
    disturb(plan, raw, socket)
    if (!plan.reads) {
      socket.pause()
      // A socket that is never read does not notice that the other side closed.
      setTimeout(() => void play(socket, plan.scripts[0]!).then(() => socket.resume()), plan.disturbanceMs)
      return
    }
    let requests = 0
    readRequests(socket, plan.scripts[0]!.endPauseMs === 1, (path) => {
      const script = plan.scripts[Math.min(requests, plan.scripts.length - 1)]!
      // The rest of an earlier response may be taken for the answer to a later request.
      const sure = requests === 0 && plan.disturbance === "none" && path.startsWith(`/${number}/`)
      requests++
      expected.set(path, sure ? script.status : undefined)
      void play(socket, script)
    })
  })
  server.on("error", ignore)
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", 1_000, done))
  return {
    port: (server.address() as net.AddressInfo).port,
    open,
    begin: (number) => {
      current = number
      present = scenario(seed, number)
      connections = 0
      expected.clear()
    },
    expected: (path) => expected.get(path),
    close: async () => {
      for (const socket of all) socket.destroy()
      await new Promise((done) => server.close(done))
    }
  }
}
