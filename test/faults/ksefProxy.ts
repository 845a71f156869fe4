/**
 * A proxy before the KSeF simulator that stops a call at a point where its caller may die: before the simulator has it, or
 * when the answer is there and has not been passed on.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

/** Where a call is stopped. */
export interface KillPoint {
  readonly method: string
  /** Matches the path below the origin. */
  readonly path: RegExp
  /** `in-flight`: the simulator never has the call. `answered`: it has answered, and its caller never learns of it. */
  readonly at: "in-flight" | "answered"
}

const bodyOf = async (message: AsyncIterable<Uint8Array>): Promise<Buffer> => {
  const chunks: Array<Uint8Array> = []
  for await (const chunk of message) chunks.push(chunk)
  return Buffer.concat(chunks)
}

export interface KsefProxy {
  /** The base URL of the API. */
  readonly url: string
  /** Stops the next call at a point. Resolves when it is there. */
  readonly arm: (point: KillPoint) => Promise<void>
  readonly close: () => Promise<void>
}

/** Starts a proxy before the simulator at a base URL. */
export const startKsefProxy = async (baseUrl: string): Promise<KsefProxy> => {
  const target = new URL(baseUrl).origin
  let origin = ""
  let armed: { readonly point: KillPoint; readonly reached: () => void } | undefined

  const takes = (request: IncomingMessage, at: KillPoint["at"]): boolean => {
    if (armed?.point.at !== at || armed.point.method !== request.method) return false
    if (!armed.point.path.test(request.url ?? "")) return false
    armed.reached()
    armed = undefined
    return true
  }

  const forward = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await bodyOf(request)
    if (takes(request, "in-flight")) return
    const { host: _host, connection: _connection, "content-length": _length, ...headers } = request.headers
    const answer = await fetch(`${target}${request.url ?? ""}`, {
      method: request.method ?? "GET",
      headers: headers as Record<string, string>,
      ...(body.length === 0 ? {} : { body: new Uint8Array(body) }),
      redirect: "manual"
    })
    const text = Buffer.from(await answer.arrayBuffer())
    if (takes(request, "answered")) return
    // Links of the simulator have to be those of this proxy.
    const isJson = answer.headers.get("content-type")?.includes("json") === true
    const passed = isJson ? Buffer.from(text.toString("utf8").replaceAll(target, origin)) : text
    const {
      "content-length": _answerLength,
      "transfer-encoding": _encoding,
      ...answerHeaders
    } = Object.fromEntries(answer.headers)
    response.writeHead(answer.status, { ...answerHeaders, "content-length": passed.length })
    response.end(passed)
  }

  const server = createServer((request, response) => {
    forward(request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  return {
    url: `${origin}/v2`,
    arm: (point) =>
      new Promise((resolve) => {
        armed = { point, reached: resolve }
      }),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      })
  }
}
