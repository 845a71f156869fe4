/**
 * A port on loopback where connecting hangs, like a host behind a firewall: the accept queue of the kernel is full, and further
 * connections are dropped.
 */
import net from "node:net"
import { Worker } from "node:worker_threads"
import { cleanup, sleep } from "./servers.ts"

// Listens and blocks its event loop, so that it accepts nothing.
const listener = `
  const { parentPort, workerData } = require("node:worker_threads")
  const server = require("node:net").createServer()
  server.listen({ port: 0, host: "127.0.0.1", backlog: 1 }, () => {
    parentPort.postMessage(server.address().port)
    setImmediate(() => Atomics.wait(workerData, 0, 0))
  })
`

export const serveUnaccepting = async (): Promise<number> => {
  const lock = new Int32Array(new SharedArrayBuffer(4))
  const worker = new Worker(listener, { eval: true, workerData: lock })
  const listening = await new Promise<number>((resolve, reject) =>
    worker.once("message", resolve).once("error", reject)
  )
  const sockets: Array<net.Socket> = []
  cleanup(async () => {
    for (const socket of sockets) socket.destroy()
    Atomics.store(lock, 0, 1)
    Atomics.notify(lock, 0)
    await worker.terminate()
  })
  // Fill the accept queue until two connections in a row hang. One can be slow on a busy machine.
  for (let hanging = 0; hanging < 2;) {
    if (sockets.length > 50) throw new Error("The kernel takes connections without end")
    const socket = net.connect(listening, "127.0.0.1")
    sockets.push(socket.on("error", () => {}))
    await Promise.race([new Promise((connected) => socket.once("connect", connected)), sleep(300)])
    // On a busy machine, the timer can be first and the connection be established later.
    await new Promise((polled) => setImmediate(polled))
    hanging = socket.connecting ? hanging + 1 : 0
  }
  return listening
}
