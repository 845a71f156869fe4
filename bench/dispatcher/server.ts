/** The receiver: reads a request, answers "ok", counts connections. */
import * as http from "node:http"
import * as https from "node:https"
import type { AddressInfo } from "node:net"

interface Start {
  readonly scheme: "http" | "https"
  readonly certificate: { readonly cert: string; readonly key: string }
}

let connections = 0

const answer: http.RequestListener = (request, response) => {
  request.resume()
  request.once("end", () => response.end("ok"))
}

process.once("message", ({ certificate, scheme }: Start) => {
  const server = scheme === "http" ? http.createServer(answer) : https.createServer(certificate, answer)
  server.on("connection", () => connections++)
  // Sockets stay open during the other variants.
  server.keepAliveTimeout = 60_000
  server.listen(0, "127.0.0.1", () => {
    process.send!({ port: (server.address() as AddressInfo).port })
    process.on("message", () => process.send!({ connections }))
  })
})
process.once("disconnect", () => process.exit())
