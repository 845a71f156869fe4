/**
 * Reads the certificates of a receiver before OpenSSL does.
 *
 * OpenSSL decodes the public keys of all certificates as they arrive, before anybody learns that nobody trusts them. So the records of a
 * handshake are passed on once the certificates in them are known to have usual keys. Those of TLS 1.2 are in the clear, and those of
 * TLS 1.3 are encrypted with keys of a secret that OpenSSL tells as soon as it has read the records before (RFC 8446).
 */
import { type CipherGCMTypes, createDecipheriv, createHmac } from "node:crypto"
import { hasUsualKey } from "./certificateKeys.ts"

/** What OpenSSL knows of the handshake. */
export interface Negotiated {
  /** `TLSv1.2`, for example, once the first message of the receiver was read. */
  readonly protocol: () => string | null
  /** `TLS_AES_128_GCM_SHA256`, for example. */
  readonly cipher: () => string
}

const headerBytes = 5
const tagBytes = 16

const contentTypes = { changeCipherSpec: 20, alert: 21, handshake: 22, encrypted: 23 } as const
const messageTypes = { certificate: 11, finished: 20, compressedCertificate: 25 } as const

const secretLine = /^SERVER_HANDSHAKE_TRAFFIC_SECRET [\da-f]+ ([\da-f]+)$/

// Both names are of ciphers with a tag. The types know one overload for each.
const aeads: Readonly<Record<string, readonly [cipher: CipherGCMTypes, keyBytes: number]>> = {
  TLS_AES_128_GCM_SHA256: ["aes-128-gcm", 16],
  TLS_AES_256_GCM_SHA384: ["aes-256-gcm", 32],
  TLS_CHACHA20_POLY1305_SHA256: ["chacha20-poly1305" as CipherGCMTypes, 32]
}

/** HKDF-Expand-Label with an empty context, of at most a hash (RFC 8446 §7.1). */
const expandLabel = (secret: Buffer, label: string, length: number): Buffer => {
  const name = `tls13 ${label}`
  const info = Buffer.concat([Buffer.from([0, length, name.length]), Buffer.from(name), Buffer.from([0, 1])])
  const hash = secret.length === 48 ? "sha384" : "sha256"
  return createHmac(hash, secret).update(info).digest().subarray(0, length)
}

/** Returns the plaintext of records of TLS 1.3 in their order, with its padding, or undefined (RFC 8446 §5.2). */
const makeOpen = (secret: Buffer, suite: string): ((record: Buffer) => Buffer | undefined) => {
  const aead = aeads[suite]
  if (aead === undefined) return () => undefined
  const [name, keyBytes] = aead
  const key = expandLabel(secret, "key", keyBytes)
  const iv = expandLabel(secret, "iv", 12)
  let sequence = 0
  return (record) => {
    const nonce = Buffer.from(iv)
    nonce.writeUInt32BE((nonce.readUInt32BE(8) ^ sequence++) >>> 0, 8)
    const end = record.length - tagBytes
    if (end < headerBytes) return undefined
    const decipher = createDecipheriv(name, key, nonce, { authTagLength: tagBytes })
    decipher.setAAD(record.subarray(0, headerBytes)).setAuthTag(record.subarray(end))
    try {
      return Buffer.concat([decipher.update(record.subarray(headerBytes, end)), decipher.final()])
    } catch {
      return undefined
    }
  }
}

/** Returns the certificates of a message. Those of TLS 1.3 follow a context, and each has extensions (RFC 5246 §7.4.2, RFC 8446 §4.4.2). */
const readCertificates = (body: Buffer, isTls13: boolean): ReadonlyArray<Buffer> | undefined => {
  const certificates: Array<Buffer> = []
  let at = 3 + (isTls13 ? 1 + (body[0] ?? 0) : 0)
  while (at < body.length) {
    if (at + 3 > body.length) return undefined
    const end = at + 3 + body.readUIntBE(at, 3)
    if (end > body.length) return undefined
    certificates.push(body.subarray(at + 3, end))
    if (isTls13 && end + 2 > body.length) return undefined
    at = isTls13 ? end + 2 + body.readUInt16BE(end) : end
  }
  return at === body.length ? certificates : undefined
}

/** Reads the records of one handshake. Who makes it bounds their bytes. */
export class HandshakeReader {
  readonly #negotiated: Negotiated
  readonly #pass: (bytes: Buffer) => void
  /** The beginning of a record. */
  #bytes = Buffer.alloc(0)
  /** Records with the beginning of a message. */
  #held: Array<Buffer> = []
  #messages = Buffer.alloc(0)
  #secret: Buffer | undefined
  #open: ((record: Buffer) => Buffer | undefined) | undefined
  #isDone = false

  /** `pass` gives bytes to OpenSSL, which has read them when it returns. */
  constructor(negotiated: Negotiated, pass: (bytes: Buffer) => void) {
    this.#negotiated = negotiated
    this.#pass = pass
  }

  /** To be called with the lines of the event `keylog`. */
  onKeylog(line: Buffer): void {
    if (this.#secret !== undefined) return
    const [, secret] = secretLine.exec(line.toString("latin1").trim()) ?? []
    if (secret !== undefined) this.#secret = Buffer.from(secret, "hex")
  }

  /** Passes on what may be read. Returns whether the handshake may go on. */
  receive(chunk: Buffer): boolean {
    if (this.#isDone) {
      this.#pass(chunk)
      return true
    }
    this.#bytes = Buffer.concat([this.#bytes, chunk])
    while (!this.#isDone && this.#bytes.length >= headerBytes) {
      const end = headerBytes + this.#bytes.readUInt16BE(3)
      if (this.#bytes.length < end) return isRecord(this.#bytes)
      const record = this.#bytes.subarray(0, end)
      this.#bytes = this.#bytes.subarray(end)
      this.#held.push(record)
      if (!isRecord(record) || !this.#isReadable(record)) return false
      if (this.#messages.length === 0) for (const held of this.#held.splice(0)) this.#pass(held)
    }
    if (this.#isDone) this.#pass(this.#bytes)
    return true
  }

  /** Reads a record, and returns whether OpenSSL may. */
  #isReadable(record: Buffer): boolean {
    switch (record[0]) {
      case contentTypes.alert:
        return true
      case contentTypes.changeCipherSpec:
        // In TLS 1.2, no certificate comes after it: there is no renegotiation. In TLS 1.3, it says nothing.
        if (this.#negotiated.protocol() === "TLSv1.2") this.#isDone = true
        return true
      case contentTypes.handshake:
        return this.#secret === undefined && this.#readMessages(record.subarray(headerBytes))
      default:
        return this.#readEncrypted(record)
    }
  }

  #readEncrypted(record: Buffer): boolean {
    if (this.#secret === undefined) return false
    this.#open ??= makeOpen(this.#secret, this.#negotiated.cipher())
    const plaintext = this.#open(record)
    if (plaintext === undefined) return false
    let end = plaintext.length - 1
    while (plaintext[end] === 0) end--
    if (plaintext[end] === contentTypes.alert) return true
    return plaintext[end] === contentTypes.handshake && this.#readMessages(plaintext.subarray(0, end))
  }

  /** Reads the messages that are complete. Returns whether none has a certificate with an unusual key. */
  #readMessages(bytes: Buffer): boolean {
    this.#messages = Buffer.concat([this.#messages, bytes])
    while (this.#messages.length >= 4) {
      const end = 4 + this.#messages.readUIntBE(1, 3)
      if (this.#messages.length < end) break
      const type = this.#messages[0]
      const body = this.#messages.subarray(4, end)
      this.#messages = this.#messages.subarray(end)
      if (type === messageTypes.compressedCertificate) return false
      // Without a certificate, after a session that was resumed.
      if (type === messageTypes.finished && this.#secret !== undefined) this.#isDone = true
      if (type === messageTypes.certificate) {
        if (readCertificates(body, this.#secret !== undefined)?.every(hasUsualKey) !== true) return false
        this.#isDone = true
      }
    }
    if (this.#isDone) this.#messages = Buffer.alloc(0)
    return true
  }
}

/** Whether bytes begin with the header of a record. */
const isRecord = ([type, major]: Buffer): boolean =>
  type !== undefined && type >= contentTypes.changeCipherSpec && type <= contentTypes.encrypted && major === 3
