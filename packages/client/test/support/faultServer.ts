/**
 * A server with scripted responses that records its requests.
 *
 * `POST /script` accepts the responses and returns a path. Below that path each request gets the next response,
 * and the last one again after that. `GET <path>/requests` returns the recorded requests.
 */
import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { pipeline, Readable } from "node:stream"
import type { Answer, ArrivedRequest } from "./scenarios.ts"

export interface FaultServer extends AsyncDisposable {
  readonly origin: string
}

/** The chunks of a body without end. */
export function* repeated<A>(chunk: A): Generator<A, never> {
  for (;;) yield chunk
}

const answerWith = (response: ServerResponse, answer: Answer): void => {
  const { body = "", ends, headers = {}, retryAfterDateMs, status = 200 } = answer
  if (ends === "reset before the head") response.socket?.destroy()
  if (ends === "reset before the head" || ends === "hang before the head") return
  response.writeHead(status, {
    "content-type": "application/json",
    "request-id": "req_01m7q5cqg0e6786ptds43fm4k3",
    ...(retryAfterDateMs === undefined ? {} : { "retry-after": new Date(Date.now() + retryAfterDateMs).toUTCString() }),
    // Larger than the body.
    ...(ends === undefined || ends === "never" ? {} : { "content-length": "100000" }),
    ...headers
  })
  if (ends === "never") {
    pipeline(Readable.from(repeated(body)), response, () => {})
    return
  }
  response.write(answer.bytes === undefined ? body : Uint8Array.from(answer.bytes))
  if (ends === undefined) response.end()
  if (ends === "reset within the body") setTimeout(() => response.socket?.destroy(), 50)
}

const page = '<!doctype html><meta charset="utf-8"><script type="module" src="/program.js"></script>'

/**
 * Starts a server on a free loopback port. `GET /` is a page that loads a program, which sends its
 * report to `/report`.
 */
export const startFaultServer = async (
  program = "",
  onReport: (report: string) => void = () => {}
): Promise<FaultServer> => {
  const scripts: Array<{ answers: ReadonlyArray<Answer>; requests: Array<ArrivedRequest> }> = []
  const server = createServer((request, response) => {
    // Bun and Deno repeat a request if a reused connection breaks.
    response.setHeader("connection", "close")
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      const body = Buffer.concat(chunks).toString("utf8")
      if (request.url === "/script") {
        scripts.push({ answers: JSON.parse(body) as ReadonlyArray<Answer>, requests: [] })
        response.end(`/script/${scripts.length - 1}`)
        return
      }
      if (request.url === "/" || request.url === "/program.js") {
        response.setHeader("content-type", request.url === "/" ? "text/html" : "text/javascript")
        response.end(request.url === "/" ? page : program)
        return
      }
      if (request.url === "/report") {
        response.end()
        onReport(body)
        return
      }
      if (!request.url!.startsWith("/script/")) {
        response.writeHead(404).end()
        return
      }
      const [, index, path] = /^\/script\/(\d+)(\/.*)$/.exec(request.url!)!
      const { answers, requests } = scripts[Number(index)]!
      if (path === "/requests") {
        response.end(JSON.stringify(requests))
        return
      }
      requests.push({ method: request.method!, path: path!, headers: request.headers as Record<string, string>, body })
      answerWith(response, answers[Math.min(requests.length, answers.length) - 1]!)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  return {
    origin: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    }
  }
}
