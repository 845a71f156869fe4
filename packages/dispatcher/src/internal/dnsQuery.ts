/**
 * Asks name servers for the addresses of a name (RFC 1035), by UDP only.
 *
 * The receiver chooses how many records its name has. An answer by TCP has up to 64 KiB of them, which c-ares reads for 20
 * milliseconds, while nothing else runs. An answer by UDP has as many as the question asks for (EDNS, RFC 6891).
 */
import { randomInt } from "node:crypto"
import { createSocket } from "node:dgram"
import { Resolver } from "node:dns"
import { readFileSync } from "node:fs"
import { isIP, isIPv6 } from "node:net"
import { format, ipv4 } from "./address.ts"
import { codeError, codeOf } from "./classify.ts"

/** How many bytes an answer may have, as all networks carry them in one packet: about 70 addresses. */
const maxAnswerBytes = 1232

const types = { A: 1, AAAA: 28 } as const
const typeOfOptions = 41

const rcodes: Readonly<Record<number, readonly [code: string, message: string]>> = {
  1: ["EFORMERR", "The name server did not understand the question"],
  2: ["ESERVFAIL", "The name server failed"],
  3: ["ENOTFOUND", "The name does not exist"],
  4: ["ENOTIMP", "The name server does not answer such questions"],
  5: ["EREFUSED", "The name server refused the question"]
}
const formatError = 1

export interface NameServer {
  readonly address: string
  readonly port: number
}

/** Reads name servers that are written as `address` or `address:port`. Throws where one is neither. */
export const nameServers = (texts: ReadonlyArray<string>): ReadonlyArray<NameServer> => {
  new Resolver().setServers(texts)
  return texts.map((text) => {
    if (isIP(text) !== 0) return { address: text, port: 53 }
    const [, six, four, port = "53"] = /^(?:\[(.*)\]|([^:]*))(?::([0-9]+))?$/.exec(text)!
    return { address: (six ?? four)!, port: Number(port) }
  })
}

// As many as the C library uses. Node does not tell the interface of a link-local address (`fe80::1%eth0`).
const readSystemServers = (): ReadonlyArray<NameServer> => {
  try {
    const lines = readFileSync("/etc/resolv.conf", "utf8").matchAll(/^nameserver[ \t]+(\S+)/gm)
    const servers = Array.from(lines, ([, address]) => ({ address: address!, port: 53 })).filter(({ address }) =>
      isIP(address)
    )
    if (servers.length > 0) return servers.slice(0, 3)
  } catch {
    // Other systems have none.
  }
  return nameServers(new Resolver().getServers())
}

const rereadMs = 60_000

/** Returns a function that tells the name servers of the system, which can change. */
export const systemServers = (): (() => ReadonlyArray<NameServer>) => {
  let servers: ReadonlyArray<NameServer> = []
  let readAt = -Infinity
  return () => {
    if (performance.now() - readAt < rereadMs) return servers
    readAt = performance.now()
    return (servers = readSystemServers())
  }
}

const encodeQuestion = (hostname: string, type: number): Buffer => {
  const labels = hostname.replace(/\.$/, "").split(".")
  if (hostname.length > 254 || labels.some((label) => !/^[!-~]{1,63}$/.test(label))) {
    throw codeError("EBADNAME", "No such name can exist")
  }
  const name = labels.map((label) => String.fromCharCode(label.length) + label).join("")
  return Buffer.from(`${name}\0\0${String.fromCharCode(type)}\0\x01`, "latin1")
}

const encodeQuery = (id: number, question: Buffer, hasOptions: boolean): Buffer => {
  const header = Buffer.from([id >> 8, id & 255, 1, 0, 0, 1, 0, 0, 0, 0, 0, Number(hasOptions)])
  const options = Buffer.from([0, 0, typeOfOptions, maxAnswerBytes >> 8, maxAnswerBytes & 255, 0, 0, 0, 0, 0, 0])
  return Buffer.concat(hasOptions ? [header, question, options] : [header, question])
}

// Names have no case, and name servers keep the one of the question or not.
const isAnswerTo = (message: Buffer, id: number, question: Buffer): boolean => {
  if (message.length < 12 || message.readUInt16BE(0) !== id || (message[2]! & 0x80) === 0) return false
  // A server that does not understand a question may not repeat it.
  if (message.readUInt16BE(4) === 0) return (message[3]! & 15) === formatError
  const repeated = message.toString("latin1", 12, 12 + question.length)
  return repeated.toLowerCase() === question.toString("latin1").toLowerCase()
}

/** Returns where the name at an offset ends. */
const skipName = (message: Buffer, from: number): number => {
  let at = from
  for (let length = message.readUInt8(at); length !== 0; length = message.readUInt8(at)) {
    if (length >= 0xc0) return at + 2
    at += 1 + length
  }
  return at + 1
}

const addressAt = (message: Buffer, type: number, at: number): string =>
  type === types.A
    ? format(ipv4(message.readUInt32BE(at)))
    : format({ family: 6, groups: Array.from({ length: 8 }, (_, index) => message.readUInt16BE(at + 2 * index)) })

/** Returns the addresses of an answer, and whether it ends before its last record does. */
const addressesIn = (message: Buffer, question: Buffer, wanted: number) => {
  const addresses: Array<string> = []
  let at = 12 + question.length
  try {
    for (let rest = message.readUInt16BE(6); rest > 0; rest--) {
      at = skipName(message, at)
      const [type, size] = [message.readUInt16BE(at), message.readUInt16BE(at + 8)]
      at += 10
      if (type === wanted) addresses.push(addressAt(message, type, at))
      at += size
    }
  } catch {
    return { addresses, isCut: true }
  }
  return { addresses, isCut: at > message.length }
}

/** Sends a packet, and returns the answer to it, or `undefined` where there is none in time. */
const exchange = (
  { address, port }: NameServer,
  packet: Buffer,
  isAnswer: (message: Buffer) => boolean,
  timeoutMs: number
): Promise<Buffer | undefined> =>
  new Promise((resolve) => {
    // A port of its own, which nobody else can guess.
    const socket = createSocket(isIPv6(address) ? "udp6" : "udp4")
    let isOpen = true
    const end = (message?: Buffer) => {
      if (!isOpen) return
      isOpen = false
      clearTimeout(timer)
      socket.close()
      resolve(message)
    }
    const timer = setTimeout(end, timeoutMs)
    socket.on("error", () => end())
    socket.on("message", (message) => {
      if (isAnswer(message)) end(message)
    })
    socket.connect(port, address, (error?: Error) => {
      if (error !== undefined) end()
      else if (isOpen) socket.send(packet)
    })
  })

interface Asked {
  readonly servers: ReadonlyArray<NameServer>
  readonly timeoutMs: number
  readonly tries: number
  /** Whether nobody waits for the answer any more. */
  readonly isAbandoned: () => boolean
}

/**
 * Asks the servers in turn, `tries` times each and longer each time, for the addresses of a name in one family. Only the first
 * question has EDNS, which some servers do not know, and some networks do not let pass.
 */
export const queryAddresses = async (
  hostname: string,
  family: keyof typeof types,
  { isAbandoned, servers, timeoutMs, tries }: Asked
): Promise<ReadonlyArray<string>> => {
  const question = encodeQuestion(hostname, types[family])
  let failure = codeError("ETIMEOUT", "The name servers did not answer")
  for (let round = 0; round < tries; round++) {
    for (const server of servers) {
      const id = randomInt(0x10000)
      const isAnswer = (message: Buffer) => isAnswerTo(message, id, question)
      const answer = await exchange(server, encodeQuery(id, question, round === 0), isAnswer, timeoutMs * 2 ** round)
      const read = answer === undefined ? failure : readAnswer(answer, question, types[family])
      if (!(read instanceof Error)) return read
      if (codeOf(read) === "ENOTFOUND" || codeOf(read) === "ENODATA" || isAbandoned()) throw read
      failure = read
    }
  }
  throw failure
}

// Of an answer that is cut, those that came are as good as all.
const readAnswer = (answer: Buffer, question: Buffer, type: number): ReadonlyArray<string> | Error => {
  const rcode = answer[3]! & 15
  if (rcode !== 0) return codeError(...(rcodes[rcode] ?? ["EBADRESP", "The answer of the name server cannot be read"]))
  const isTruncated = (answer[2]! & 0x02) !== 0 || answer.length > maxAnswerBytes
  const { addresses, isCut } = addressesIn(answer.subarray(0, maxAnswerBytes), question, type)
  if (addresses.length > 0 && (isTruncated || !isCut)) return addresses
  if (isTruncated) return codeError("GOVOICE_TRUNCATED", `The name server has no answer of ${maxAnswerBytes} bytes`)
  return isCut
    ? codeError("EBADRESP", "The answer of the name server cannot be read")
    : codeError("ENODATA", "The name has no such addresses")
}
