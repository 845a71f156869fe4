/** A server that reads every request and accepts it: the floor of the simulator, in a process of its own. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

const server = createServer((request, response) => {
  request.resume()
  request.once("end", () =>
    response.writeHead(202, { "content-type": "application/json" }).end('{"referenceNumber":"plain"}')
  )
})
server.listen(0, "127.0.0.1", () => process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
process.once("disconnect", () => process.exit(0))
