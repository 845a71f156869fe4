import { randomInt } from "node:crypto"
import { createServer } from "node:net"

// Below the ports that systems give to servers on port 0 and to connections (from 32,768 on Linux, 49,152 elsewhere), so that no
// other process is given the port between this function and its use.
const [least, most] = [15_000, 32_000]

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer().once("error", () => resolve(false))
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)))
  })

/** Returns a port of 127.0.0.1 without a listener, for processes that cannot choose one themselves. */
export const freePort = async (): Promise<number> => {
  for (let tries = 0; tries < 100; tries++) {
    const port = randomInt(least, most)
    if (await isFree(port)) return port
  }
  throw new Error(`No free port of 127.0.0.1 from ${least} to ${most}`)
}
