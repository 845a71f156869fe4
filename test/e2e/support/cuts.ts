/**
 * Connections of a hostile client: whole requests and beginnings of others on one connection, which then ends, is destroyed or
 * is reset, or the same with bytes changed.
 */
import type { Socket } from "node:net"

export interface CutOptions {
  /** Opens a connection, and may return it before it is connected. */
  readonly open: () => Socket
  /** The event of a connection that is ready. */
  readonly ready?: "connect" | "secureConnect"
  readonly connections: number
  readonly apiKey: string
  readonly seed: number
  /** Throws when the server has ended. */
  readonly check: () => void
}

const ends = ["end", "destroy", "resetAndDestroy"] as const

const request = (line: string, headers: ReadonlyArray<string>, body?: string, announced = body?.length): string =>
  [
    `${line} HTTP/1.1`,
    "Host: localhost",
    ...headers,
    ...(announced === undefined ? [] : ["Content-Type: application/json", `Content-Length: ${announced}`]),
    "",
    body ?? ""
  ].join("\r\n")

/** What connections send. */
const scripts = (apiKey: string): ReadonlyArray<string> => {
  const key = `Authorization: Bearer ${apiKey}`
  const login = JSON.stringify({ email: "nobody@example.com", password: "wrong" })
  const invoice = JSON.stringify({ invoice_xml: "<Faktura/>" })
  const logIn = request("POST /v1/control-plane/auth/login", [], login)
  const beginning = request("POST /v1/invoices", [key, "Idempotency-Key: beginning"], '{"inv', 100)
  const refresh = request("POST /v1/control-plane/auth/refresh", ["Expect: 100-continue"], '{"refresh_token":"x"}')
  const submission = request("POST /v1/invoices", [key, "Idempotency-Key: cut"], invoice)
  const large = request("POST /v1/invoices", [key, "Idempotency-Key: large"], "x".repeat(100), 1_000_000)
  const chunked = `${request("POST /v1/invoices", [key, "Idempotency-Key: c", "Content-Type: application/json", "Transfer-Encoding: chunked"])}5\r\n{"inv\r\n5\r\noice_\r\n0\r\n\r\n`
  const get = request("GET /v1/me", [key])
  return [
    logIn + request("POST /v1/control-plane/auth/login", [], '{"em', 100),
    refresh + beginning + logIn,
    submission + beginning,
    get + submission + chunked + beginning,
    large + get,
    request("POST /v1/invoices", [key, "Expect: 200-maybe"], "{}") + beginning,
    request("GET /healthz", []) + request("CONNECT example.com:443", []) + beginning,
    request("GET /v1/me", [key, "Connection: Upgrade", "Upgrade: websocket"], "{}") + beginning,
    request("GET /v1/me", [key, "Connection: Upgrade", "Upgrade: h2c"]) + chunked + get,
    request("GET /docs", []) + request("GET /openapi.json", []) + request("GET /console/", []) + chunked,
    get.repeat(300) + beginning
  ]
}

const makeRandom = (seed: number) => {
  let state = seed
  return (count: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * count)
  }
}

/** Lists every byte of every short script with every end. */
const everyCut = (all: ReadonlyArray<string>) =>
  all
    .filter(({ length }) => length < 2000)
    .flatMap((text) =>
      Array.from({ length: text.length }, (_, index) => ends.map((end) => ({ text, cut: index + 1, end }))).flat()
    )

const makeOne = (
  all: ReadonlyArray<string>,
  cuts: ReturnType<typeof everyCut>,
  index: number,
  random: (count: number) => number
) => {
  // Every other connection sends everything. The others go through the cuts with a long stride.
  const step = Math.floor(index / 2)
  const whole = all[step % all.length]!
  const one =
    index % 2 === 0
      ? { text: whole, cut: whole.length, end: ends[random(ends.length)]! }
      : cuts[(step * 7919) % cuts.length]!
  const bytes = Buffer.from(one.text, "latin1")
  if (random(3) === 0) bytes[random(bytes.length)] = random(256)
  return { ...one, bytes, pieces: 1 + random(3), delayMs: random(20) }
}

/** Makes the connections, 50 at a time, and returns how many answers came back. */
export const cutConnections = async ({
  apiKey,
  check,
  connections,
  open,
  ready = "connect",
  seed
}: CutOptions): Promise<number> => {
  const all = scripts(apiKey)
  const cuts = everyCut(all)
  const random = makeRandom(seed)
  let answers = 0
  let next = 0

  const runOne = ({ bytes, cut, delayMs, end, pieces }: ReturnType<typeof makeOne>): Promise<void> =>
    new Promise((resolve) => {
      const socket = open()
      // A connection that the server keeps open.
      const timer = setTimeout(() => socket.destroy(), 2000)
      socket.on("error", () => {})
      socket.on("data", (chunk: Buffer) => (answers += chunk.toString("latin1").split("HTTP/1.1 ").length - 1))
      socket.on("close", () => {
        clearTimeout(timer)
        resolve()
      })
      const send = async (): Promise<void> => {
        const size = Math.ceil(cut / pieces)
        for (let at = 0; at < cut && socket.writable; at += size) {
          socket.write(bytes.subarray(at, Math.min(cut, at + size)))
          await new Promise((turn) => setImmediate(turn))
        }
        // TLS has no reset of its own.
        setTimeout(() => (ready === "secureConnect" && end !== "end" ? socket.destroy() : socket[end]()), delayMs)
      }
      socket.on(ready, () => void send())
    })

  const lane = async (): Promise<void> => {
    while (next < connections) {
      check()
      await runOne(makeOne(all, cuts, next++, random))
    }
  }
  await Promise.all(Array.from({ length: 50 }, lane))
  check()
  return answers
}
