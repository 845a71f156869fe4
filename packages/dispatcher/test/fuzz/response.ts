/** Generates the bytes of a response, from well-formed to random, and how they arrive. */
import { type Random, seeded } from "./random.ts"

export type End = "keep open" | "FIN" | "RST" | "destroy"

export interface Script {
  /** The chunks to write, in order, each after a pause in milliseconds. 0 writes at once. */
  readonly writes: ReadonlyArray<{ readonly bytes: Buffer; readonly pauseMs: number }>
  readonly end: End
  readonly endPauseMs: number
  /** The status that a client has to report, where the response leaves no choice. */
  readonly status: number | undefined
}

/** Around the 64 KiB that are discarded to keep a connection, and most of them small: they cost less. */
const bodySizes = [
  ...Array.from({ length: 24 }, () => 2),
  0,
  0,
  0,
  0,
  100,
  1_000,
  4_096,
  16_384,
  65_535,
  65_536,
  65_537,
  70_000,
  70_000,
  140_000
]
const statuses = [200, 200, 200, 201, 202, 204, 205, 226, 299, 301, 304, 400, 404, 410, 429, 500, 500, 503, 599]
const badStatuses = ["100", "101", "102", "000", "099", "600", "777", "999", "20", "abc", "2000", ""]

const chunked = (random: Random, body: string): string => {
  const parts: Array<string> = []
  for (let at = 0; at < body.length;) {
    const size = Math.min(body.length - at, random.pick([1, 5, 1_000, 16_384, 70_000]))
    const extension = random.chance(0.1) ? `;a=${"b".repeat(random.integer(0, 300))}` : ""
    parts.push(`${size.toString(16)}${extension}\r\n${body.slice(at, at + size)}\r\n`)
    at += size
    // Thousands of chunks of one byte take long to write and find nothing.
    if (parts.length > 40) return `${parts.join("")}${body.length - at === 0 ? "" : chunkOf(body.slice(at))}`
  }
  return parts.join("")
}

const chunkOf = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`

interface Framed {
  readonly fields: ReadonlyArray<string>
  readonly body: string
  readonly wellFormed: boolean
}

type Framing = (random: Random, body: string) => Framed

const framings: ReadonlyArray<Framing> = [
  (_, body) => ({ fields: [`content-length: ${body.length}`], body, wellFormed: true }),
  (_, body) => ({ fields: [`Content-Length: ${body.length}`], body, wellFormed: true }),
  // Without a length: the end of the connection is the end of the body.
  (_, body) => ({ fields: [], body, wellFormed: true }),
  (_, body) => ({ fields: [], body, wellFormed: true }),
  (_, body) => ({ fields: ["transfer-encoding: gzip"], body, wellFormed: true }),
  (random, body) => ({
    fields: ["transfer-encoding: chunked"],
    body: `${chunked(random, body)}0\r\n\r\n`,
    wellFormed: true
  }),
  (random, body) => ({
    fields: ["Transfer-Encoding: gzip, chunked", "trailer: x"],
    body: `${chunked(random, body)}0\r\nx: y\r\n${"a: b\r\n".repeat(random.pick([0, 0, 1, 1, 300]))}\r\n`,
    wellFormed: true
  }),
  (random, body) => ({
    fields: ["transfer-encoding: chunked"],
    body: `${chunked(random, body)}${random.pick(["", "0", "0\r\n", "g\r\n", "-1\r\n", "ffffffffffffffff\r\n", "5\r\nhi"])}`,
    wellFormed: true
  }),
  (random, body) => ({
    fields: [`content-length: ${body.length + random.pick([1, 10, 70_000, 10_000_000])}`],
    body,
    wellFormed: true
  }),
  (random, body) => ({
    fields: [`content-length: ${Math.max(0, body.length - random.integer(1, 100))}`],
    body,
    wellFormed: true
  })
]

const badFramings: ReadonlyArray<Framing> = [
  (random, body) => ({
    fields: [`content-length: ${random.pick(["x", "-1", "1 1", "0x10", "99999999999999999999", "", "1,1", "+1"])}`],
    body,
    wellFormed: false
  }),
  (random, body) => ({
    fields: [`content-length: ${body.length}`, `content-length: ${random.pick([body.length, body.length + 1])}`],
    body,
    wellFormed: false
  }),
  (random, body) => ({
    fields: [`content-length: ${body.length}`, "transfer-encoding: chunked"],
    body: `${chunked(random, body)}0\r\n\r\n`,
    wellFormed: false
  })
]

const oddFields: ReadonlyArray<string> = [
  "x: y\r\n folded",
  "x : y",
  ": y",
  "x",
  "x: \0",
  "\u00e9: y",
  `x: ${"y".repeat(17_000)}`,
  "a: b\r\n".repeat(250).trimEnd(),
  "connection: upgrade\r\nupgrade: websocket",
  "content-length\t: 1"
]

const fairFields: ReadonlyArray<string> = [
  "connection: close",
  "connection: keep-alive",
  "Connection: close, keep-alive",
  "keep-alive: timeout=0",
  "keep-alive: timeout=1",
  "keep-alive: timeout=5, max=1",
  "keep-alive: timeout=99999999999999999999",
  "keep-alive: x",
  "retry-after: 1",
  "retry-after: Thu, 01 Jan 1970 00:00:30 GMT",
  "retry-after: soon",
  "content-type: text/html",
  "location: http://127.0.0.1:1/",
  "__proto__: x",
  "set-cookie: a=b\r\nset-cookie: c=d",
  `x: ${"y".repeat(4_000)}`
]

interface Message {
  readonly text: string
  readonly headLength: number
  readonly status: number | undefined
}

const message = (random: Random): Message => {
  const version = random.chance(0.9)
    ? random.pick(["1.1", "1.1", "1.1", "1.0"])
    : random.pick(["0.9", "2.0", "1.9", "x"])
  const odd = random.chance(0.05)
  const status = odd ? random.pick(badStatuses) : String(random.pick(statuses))
  const framing = random.pick(random.chance(0.08) ? badFramings : framings)
  const { body, fields, wellFormed } = framing(random, "x".repeat(random.pick(bodySizes)))
  const informational = random.chance(0.08)
    ? "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n".repeat(random.pick([1, 2, 8, 9, 50]))
    : ""
  const more = Array.from({ length: random.pick([0, 0, 1, 1, 2, 4]) }, () => random.pick(fairFields))
  const strange = random.chance(0.05) ? [random.pick(oddFields)] : []
  const reason = random.pick([" OK", " OK", "", ` ${"r".repeat(100)}`])
  const head = `${informational}HTTP/${version} ${status}${reason}\r\n${[...more, ...fields, ...strange].join("\r\n")}${
    more.length + fields.length + strange.length > 0 ? "\r\n" : ""
  }\r\n`
  const clear =
    !odd && (version === "1.1" || version === "1.0") && wellFormed && informational + strange.join("") === ""
  return { text: head + body, headLength: head.length, status: clear ? Number(status) : undefined }
}

/** Random bytes, made once: each case takes a part. */
const noise = (() => {
  const random = seeded(1)
  return Array.from({ length: 40_000 }, () => String.fromCharCode(random.integer(0, 255))).join("")
})()

const garbage = (random: Random): string => {
  const from = random.integer(0, 20_000)
  return noise.slice(from, from + random.pick([1, 5, 50, 1_000, 20_000]))
}

const banners: ReadonlyArray<string> = [
  "",
  "\r\n",
  "\r\n".repeat(20_000),
  "220 mail.example.com ESMTP\r\n",
  "SSH-2.0-OpenSSH_9.6\r\n",
  "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
  "\u0015\u0003\u0001\u0000\u0002\u0002(",
  "<html>hello</html>"
]

const trailing = (random: Random): string => {
  if (random.chance(0.75)) return ""
  return random.pick([
    "\r\n",
    "\r\n\r\n\r\n",
    "HTTP/1.1 200 Injected\r\ncontent-length: 0\r\n\r\n",
    "x",
    "x".repeat(100_000)
  ])
}

const mutated = (random: Random, text: string, headLength: number): string => {
  const at = random.integer(0, Math.max(0, headLength - 1))
  return text.slice(0, at) + String.fromCharCode(random.integer(0, 255)) + text.slice(at + random.integer(0, 2))
}

/** Cuts bytes into the pieces in which they are written. */
const fragments = (random: Random, bytes: Buffer): ReadonlyArray<Buffer> => {
  if (bytes.length < 2) return [bytes]
  const cuts = random.pick([0, 0, 0, 1, 1, 2, 5, 30])
  const near = random.chance(0.5) ? Math.min(bytes.length - 1, 400) : bytes.length - 1
  const at = Array.from({ length: cuts }, () => random.integer(1, near)).toSorted((left, right) => left - right)
  return [0, ...at].map((from, index) => bytes.subarray(from, at[index] ?? bytes.length))
}

export const script = (random: Random): Script => {
  const kind = random.next()
  let text: string
  let status: number | undefined
  if (kind < 0.06) text = random.pick(banners)
  else if (kind < 0.1) text = garbage(random)
  else {
    const made = message(random)
    text = made.text + trailing(random)
    status = made.status
    if (random.chance(0.25)) {
      const cut = random.chance(0.5) ? random.integer(0, made.headLength) : random.integer(0, text.length)
      text = text.slice(0, cut)
      if (cut < made.headLength) status = undefined
    }
    if (random.chance(0.06)) {
      text = mutated(random, text, made.headLength)
      status = undefined
    }
  }
  // A response that does not come costs the whole deadline.
  const mayStayOpen = status !== undefined || random.chance(0.06)
  const end = random.pick<End>(mayStayOpen ? ["keep open", "FIN", "RST"] : ["FIN", "FIN", "RST", "destroy"])
  const slow = random.chance(0.15)
  return {
    writes: fragments(random, Buffer.from(text, "latin1")).map((bytes, index) => ({
      bytes,
      pauseMs: index === 0 || !slow ? 0 : random.integer(1, 5)
    })),
    end,
    endPauseMs: random.pick([0, 0, 0, 1, 5, 20]),
    // A reset can overtake what was written before.
    status: end === "RST" || end === "destroy" ? undefined : status
  }
}
