/** Connections that send slowly, and latencies. */
import { connect, type Socket } from "node:net"

export interface Upload {
  /** Resolves with the response when the server closes the connection. */
  readonly ended: Promise<{ readonly bytes: Buffer; readonly milliseconds: number }>
  readonly stop: () => void
}

/** Sends `first`, then `size` bytes of `fill` every `everyMs`, each as a chunk of a chunked body. */
export const trickle = (
  port: number,
  {
    everyMs = 100,
    first,
    size = 0,
    fill = "a"
  }: { readonly first: string; readonly size?: number; readonly everyMs?: number; readonly fill?: string }
): Upload => {
  const begun = performance.now()
  const received: Array<Buffer> = []
  const socket: Socket = connect(port, "127.0.0.1", () => socket.write(first))
  const chunk = `${size.toString(16)}\r\n${fill.repeat(size)}\r\n`
  const timer = setInterval(() => {
    if (size > 0 && socket.writable && socket.writableLength === 0) socket.write(chunk)
  }, everyMs)
  const ended = new Promise<{ readonly bytes: Buffer; readonly milliseconds: number }>((resolve) => {
    socket.on("data", (data: Buffer) => received.push(data))
    socket.on("error", () => {})
    socket.on("close", () => {
      clearInterval(timer)
      resolve({ bytes: Buffer.concat(received), milliseconds: performance.now() - begun })
    })
  })
  return { ended, stop: () => socket.destroy() }
}

/** So many that the usual one (`usual`) is none of those during a single long pause. */
const enough = 40

/** Repeats an operation for this time at least, with pauses, and returns its sorted latencies in milliseconds. */
export const latencies = async (
  milliseconds: number,
  operation: () => Promise<unknown>,
  pauseMs = 0
): Promise<ReadonlyArray<number>> => {
  const until = performance.now() + milliseconds
  const times: Array<number> = []
  do {
    const begun = performance.now()
    await operation()
    times.push(performance.now() - begun)
    if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs))
  } while (performance.now() < until || times.length < enough)
  return times.sort((a, b) => a - b)
}

/** The share of latencies that a bound is for: among a hundred, a single pause of a busy machine is the slowest hundredth. */
export const usual = 0.9

/** The value below which a share of the sorted values lies. */
export const percentile = (sorted: ReadonlyArray<number>, share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
