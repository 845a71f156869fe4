/**
 * Asks name servers for the addresses of a name (RFC 1035), by UDP only.
 *
 * The receiver chooses how many records its name has. An answer by TCP has up to 64 KiB of them, which c-ares reads for 20
 * milliseconds, while nothing else runs. An answer by UDP has as many as the question asks for (EDNS, RFC 6891).
 */
import { randomInt } from "node:crypto"
import { createSocket } from "node:dgram"
import { Resolver } from "node:dns"
import { isIP, isIPv6 } from "node:net"
import { format, ipv4 } from "./address.ts"
import { codeError } from "./classify.ts"

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
const noSuchName = 3

export interface NameServer {
  readonly address: string
  readonly port: number
}

/** Returns name servers, written as `address` or `address:port`, or those of the system. */
export const nameServers = (given: ReadonlyArray<string> | undefined): ReadonlyArray<NameServer> => {
  const resolver = new Resolver()
  if (given !== undefined) resolver.setServers(given)
  return resolver.getServers().map((text) => {
    if (isIP(text) !== 0) return { address: text, port: 53 }
    const colon = text.lastIndexOf(":")
    return { address: text.slice(0, colon).replace(/^\[(.*)\]$/, "$1"), port: Number(text.slice(colon + 1)) }
  })
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

// Throws a RangeError where the message ends within a record.
const addressesIn = (message: Buffer, question: Buffer, wanted: number): ReadonlyArray<string> => {
  const addresses: Array<string> = []
  let at = 12 + question.length
  for (let rest = message.readUInt16BE(6); rest > 0; rest--) {
    at = skipName(message, at)
    const [type, size] = [message.readUInt16BE(at), message.readUInt16BE(at + 8)]
    at += 10
    if (type === wanted) addresses.push(addressAt(message, type, at))
    at += size
  }
  return addresses
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
    socket.connect(port, address, () => {
      if (isOpen) socket.send(packet)
    })
  })

/** Asks the servers in turn, `tries` times each and longer each time, for the addresses of a name in one family. */
export const queryAddresses = async (
  hostname: string,
  family: keyof typeof types,
  {
    servers,
    timeoutMs,
    tries
  }: { readonly servers: ReadonlyArray<NameServer>; readonly timeoutMs: number; readonly tries: number }
): Promise<ReadonlyArray<string>> => {
  const question = encodeQuestion(hostname, types[family])
  const ask = async (server: NameServer, waitMs: number, hasOptions: boolean): Promise<Buffer | undefined> => {
    const id = randomInt(0x10000)
    const packet = encodeQuery(id, question, hasOptions)
    const answer = await exchange(server, packet, (message) => isAnswerTo(message, id, question), waitMs)
    // A server that does not know EDNS.
    return hasOptions && answer !== undefined && (answer[3]! & 15) === formatError ? ask(server, waitMs, false) : answer
  }
  let failure = codeError("ETIMEOUT", "The name servers did not answer")
  for (let round = 0; round < tries; round++) {
    for (const server of servers) {
      const answer = await ask(server, timeoutMs * 2 ** round, true)
      if (answer === undefined) continue
      const rcode = answer[3]! & 15
      if (rcode === 0 || rcode === noSuchName) return readAnswer(answer, question, types[family])
      failure = codeError(...(rcodes[rcode] ?? ["EBADRESP", "The answer of the name server cannot be read"]))
    }
  }
  throw failure
}

const readAnswer = (answer: Buffer, question: Buffer, type: number): ReadonlyArray<string> => {
  if ((answer[3]! & 15) === noSuchName) throw codeError(...rcodes[noSuchName]!)
  if ((answer[2]! & 0x02) !== 0 || answer.length > maxAnswerBytes) {
    throw codeError("GOVOICE_TOO_MANY_ANSWERS", `The name has more records than fit into ${maxAnswerBytes} bytes`)
  }
  let addresses: ReadonlyArray<string>
  try {
    addresses = addressesIn(answer, question, type)
  } catch {
    throw codeError("EBADRESP", "The answer of the name server cannot be read")
  }
  if (addresses.length === 0) throw codeError("ENODATA", "The name has no such addresses")
  return addresses
}
