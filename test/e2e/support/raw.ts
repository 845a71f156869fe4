/** Sends requests as bytes that no HTTP client would send. */
import { connect } from "node:net"
import type { Answer } from "./agreement.ts"

const headEnd = Buffer.from("\r\n\r\n")

/** Reads the answers in what came back: each with a Content-Length, or without a body. */
export const parse = (bytes: Buffer, method = "GET"): ReadonlyArray<Answer> => {
  const answers: Array<Answer> = []
  let rest = bytes
  while (rest.length > 0) {
    const end = rest.indexOf(headEnd)
    if (end === -1) throw new Error(`Not a response: ${JSON.stringify(rest.toString("latin1").slice(0, 200))}`)
    const [statusLine = "", ...lines] = rest.subarray(0, end).toString("latin1").split("\r\n")
    const status = Number(/^HTTP\/1\.1 (?<status>\d{3}) /.exec(statusLine)?.groups?.["status"])
    if (Number.isNaN(status)) throw new Error(`Not a response: ${statusLine}`)
    const headers = new Headers(lines.map((line) => line.split(/: ?(.*)/s).slice(0, 2) as [string, string]))
    const isBare = status < 200 || status === 204 || status === 304 || method === "HEAD"
    const length = isBare ? 0 : Number(headers.get("content-length") ?? Number.NaN)
    if (Number.isNaN(length)) throw new Error(`A response without a length: ${statusLine} ${lines.join(" ")}`)
    const body = rest.subarray(end + 4, end + 4 + length)
    if (body.length < length) throw new Error("A truncated response")
    const text = body.toString()
    if (status >= 200) {
      const isJson = headers.get("content-type") === "application/json" && text !== ""
      answers.push({ status, headers, text, json: isJson ? (JSON.parse(text) as unknown) : undefined })
    }
    rest = rest.subarray(end + 4 + length)
  }
  return answers
}

export interface Exchange {
  readonly bytes: Buffer
  /** Why it ended: the server closed, or an error of the connection, or our timeout. */
  readonly end: string
}

/** Sends bytes and returns the bytes received until the server closes the connection or the time is over. */
export const exchange = (
  port: number,
  chunks: Iterable<string | Uint8Array>,
  milliseconds = 20_000
): Promise<Exchange> =>
  new Promise((resolve) => {
    const received: Array<Buffer> = []
    const socket = connect(port, "127.0.0.1")
    const finish = (end: string) => {
      clearTimeout(timer)
      socket.destroy()
      resolve({ bytes: Buffer.concat(received), end })
    }
    const timer = setTimeout(() => finish("timeout"), milliseconds)
    let failure: string | undefined
    socket.on("data", (chunk: Buffer) => received.push(chunk))
    socket.on("error", (error: NodeJS.ErrnoException) => (failure = error.code ?? error.message))
    socket.on("close", () => finish(failure ?? "closed"))
    const send = async () => {
      for (const chunk of chunks) {
        if (socket.destroyed || !socket.writable) return
        const bytes = typeof chunk === "string" ? Buffer.from(chunk, "latin1") : chunk
        if (socket.write(bytes)) continue
        await new Promise<void>((resume) => {
          socket.once("drain", resume)
          socket.once("close", () => resume())
        })
      }
    }
    socket.on("connect", () => void send())
  })
