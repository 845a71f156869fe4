/**
 * Reads a certificate and its private key from a file in PKCS#12 (RFC 7292), as PEM.
 *
 * The key stays encrypted, as it is in the file. Certificates that are encrypted with anything but PBES2 and AES, as older programs
 * write them, are not read: browsers have no RC2 and no triple DES.
 */

/** What the file has. The key may be encrypted with the password of the file. */
export interface CertificateAndKey {
  readonly certificate: string
  readonly privateKey: string
}

/** Why a file was not read. */
export class Pkcs12Error extends Error {
  readonly reason: "incomplete" | "old-encryption" | "unreadable" | "wrong-password"

  constructor(reason: Pkcs12Error["reason"]) {
    super(reason)
    this.reason = reason
  }
}

/** Reads a file. */
export const readPkcs12 = async (file: Uint8Array<ArrayBuffer>, password: string): Promise<CertificateAndKey> => {
  const found: { certificate?: string; privateKey?: string } = {}
  const [pfx] = read(file)
  const authenticatedSafe = at(pfx, 1, 1, 0)
  for (const info of childrenOf(at(read(authenticatedSafe.content)[0]))) {
    const safe = await contentOf(info, password)
    for (const bag of childrenOf(at(read(safe)[0]))) {
      const value = at(bag, 1, 0)
      const kind = oidOf(at(bag, 0))
      if (kind === oids.shroudedKey) found.privateKey ??= pem("ENCRYPTED PRIVATE KEY", value.whole)
      if (kind === oids.key) found.privateKey ??= pem("PRIVATE KEY", value.whole)
      // The certificate of the key is the first one, before those of its authorities.
      if (kind === oids.certificate) found.certificate ??= pem("CERTIFICATE", at(value, 1, 0).content)
    }
  }
  const { certificate, privateKey } = found
  if (certificate === undefined || privateKey === undefined) throw new Pkcs12Error("incomplete")
  return { certificate, privateKey }
}

const oids = {
  data: "2a864886f70d010701",
  encryptedData: "2a864886f70d010706",
  key: "2a864886f70d010c0a0101",
  shroudedKey: "2a864886f70d010c0a0102",
  certificate: "2a864886f70d010c0a0103",
  pbes2: "2a864886f70d01050d"
}

const hashes: Readonly<Record<string, string>> = {
  "": "SHA-1",
  "2a864886f70d0207": "SHA-1",
  "2a864886f70d0209": "SHA-256",
  "2a864886f70d020a": "SHA-384",
  "2a864886f70d020b": "SHA-512"
}

const aesBits: Readonly<Record<string, number>> = {
  "608648016503040102": 128,
  "608648016503040116": 192,
  "60864801650304012a": 256
}

// Of one safe: as it is, or decrypted.
const contentOf = async (info: Node, password: string): Promise<Bytes> => {
  const kind = oidOf(at(info, 0))
  if (kind === oids.data) return at(info, 1, 0).content
  if (kind !== oids.encryptedData) throw new Pkcs12Error("unreadable")
  const encrypted = at(info, 1, 0, 1)
  const algorithm = at(encrypted, 1)
  if (oidOf(at(algorithm, 0)) !== oids.pbes2) throw new Pkcs12Error("old-encryption")
  const [salt, iterations, ...rest] = childrenOf(at(algorithm, 1, 0, 1))
  const prf = rest.find(({ tag }) => tag === 0x30)
  const hash = hashes[prf === undefined ? "" : oidOf(at(prf, 0))]
  const length = aesBits[oidOf(at(algorithm, 1, 1, 0))]
  if (hash === undefined || length === undefined) throw new Pkcs12Error("old-encryption")
  const count = Number(`0x${hex(at(iterations).content)}`)
  if (count > maxIterations) throw new Pkcs12Error("unreadable")
  const secret = await crypto.subtle.importKey("raw", new TextEncoder().encode(password), "PBKDF2", false, [
    "deriveKey"
  ])
  const key = await crypto.subtle.deriveKey(
    { name: "PBKDF2", hash, salt: at(salt).content, iterations: count },
    secret,
    { name: "AES-CBC", length },
    false,
    ["decrypt"]
  )
  const iv = at(algorithm, 1, 1, 1).content
  const ciphertext = at(encrypted, 2).content
  try {
    return new Uint8Array(await crypto.subtle.decrypt({ name: "AES-CBC", iv }, key, ciphertext))
  } catch {
    throw new Pkcs12Error("wrong-password")
  }
}

const maxIterations = 2_000_000

type Bytes = Uint8Array<ArrayBuffer>

interface Node {
  readonly tag: number
  readonly content: Bytes
  /** With tag and length. */
  readonly whole: Bytes
}

// The values in a row of DER.
const read = (bytes: Bytes): ReadonlyArray<Node> => {
  const nodes: Array<Node> = []
  for (let start = 0; start < bytes.length;) {
    const first = bytes[start + 1] ?? 0x80
    const lengthBytes = first < 0x80 ? 0 : first & 0x7f
    const from = start + 2 + lengthBytes
    const length = lengthBytes === 0 ? first : Number(`0x${hex(bytes.subarray(start + 2, from))}`)
    // Also indefinite lengths, whose first byte is 0x80.
    if (first === 0x80 || lengthBytes > 4 || from + length > bytes.length) throw new Pkcs12Error("unreadable")
    nodes.push({
      tag: bytes[start]!,
      content: bytes.subarray(from, from + length),
      whole: bytes.subarray(start, from + length)
    })
    start = from + length
  }
  return nodes
}

const childrenOf = ({ content, tag }: Node): ReadonlyArray<Node> => ((tag & 0x20) === 0 ? [] : read(content))

// The value at a path of positions.
const at = (node: Node | undefined, ...path: ReadonlyArray<number>): Node => {
  if (node === undefined) throw new Pkcs12Error("unreadable")
  const [position, ...rest] = path
  return position === undefined ? node : at(childrenOf(node)[position], ...rest)
}

const hex = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")

const oidOf = ({ content }: Node): string => hex(content)

const pem = (label: string, der: Uint8Array): string => {
  const base64 = btoa(Array.from(der, (byte) => String.fromCharCode(byte)).join(""))
  return `-----BEGIN ${label}-----\n${base64.replaceAll(/.{64}(?=.)/g, "$&\n")}\n-----END ${label}-----\n`
}
