/**
 * A client of KSeF as small as it can be: each method is one call, or a few that always belong together.
 */
import { constants, createCipheriv, createHash, publicEncrypt, randomBytes, X509Certificate } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import type { Simulator } from "../../src/startSimulator.ts"

/** An answer, with its body read. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly json: Body
}

/** A status. */
export interface StatusBody {
  readonly code: number
  readonly description: string
  readonly details?: ReadonlyArray<string>
  readonly extensions?: Readonly<Record<string, string>>
}

interface Token {
  readonly token: string
  readonly validUntil: string
}

/** A document, as answers describe it. */
export interface InvoiceBody {
  readonly ordinalNumber: number
  readonly referenceNumber: string
  readonly invoiceHash: string
  readonly invoicingDate: string
  readonly status: StatusBody
  readonly invoiceNumber?: string
  readonly ksefNumber?: string
  readonly acquisitionDate?: string
  readonly permanentStorageDate?: string | null
  readonly upoDownloadUrl?: string
  readonly invoicingMode?: string
  readonly invoiceFileName?: string
}

/** The members of all answers that tests read. Each answer has a few of them. */
export interface Body extends Omit<InvoiceBody, "status"> {
  readonly status: StatusBody
  readonly challenge: string
  readonly timestamp: string
  readonly timestampMs: number
  readonly clientIp: string
  readonly validUntil: string
  readonly authenticationToken: Token
  readonly accessToken: Token
  readonly refreshToken: Token
  readonly authenticationMethodInfo: { readonly category: string }
  readonly isTokenRedeemed: boolean
  readonly token: string
  readonly items: ReadonlyArray<{ readonly referenceNumber: string; readonly isCurrent: boolean }>
  readonly tokens: ReadonlyArray<{ readonly referenceNumber: string; readonly status: string }>
  readonly sessions: ReadonlyArray<{ readonly referenceNumber: string; readonly status: StatusBody }>
  readonly invoices: ReadonlyArray<InvoiceBody>
  readonly continuationToken?: string
  readonly upo?: { readonly pages: ReadonlyArray<{ readonly referenceNumber: string; readonly downloadUrl: string }> }
  readonly invoiceCount: number | null
  readonly successfulInvoiceCount: number | null
  readonly failedInvoiceCount: number | null
  readonly partUploadRequests: ReadonlyArray<{
    readonly ordinalNumber: number
    readonly method: string
    readonly url: string
    readonly headers: Readonly<Record<string, string>>
  }>
  readonly reasonCode: string
  readonly security: Readonly<Record<string, unknown>>
  readonly title: string
  readonly detail: string
  readonly errors?: ReadonlyArray<{ readonly code: number; readonly details: ReadonlyArray<string> }>
  readonly exception?: {
    readonly exceptionDetailList: ReadonlyArray<{
      readonly exceptionCode: number
      readonly details: ReadonlyArray<string>
    }>
  }
  readonly ids: ReadonlyArray<number | null>
  readonly error: string
  readonly overLimit: number
}

interface PublicKeyBody {
  readonly usage: ReadonlyArray<string>
  readonly certificate: string
  readonly publicKeyId: string
  readonly validFrom: string
}

/** SHA-256 in Base64. */
export const sha256 = (bytes: string | Uint8Array): string => createHash("sha256").update(bytes).digest("base64")

/** The AES key of a session. */
export interface SessionSecret {
  readonly key: Buffer
  readonly vector: Buffer
}

/** Encrypts with a session's key. */
export const encrypt = ({ key, vector }: SessionSecret, bytes: Uint8Array): Buffer => {
  const cipher = createCipheriv("aes-256-cbc", key, vector)
  return Buffer.concat([cipher.update(bytes), cipher.final()])
}

/** A session that was opened. */
export interface Opened extends SessionSecret {
  readonly reference: string
}

/** One caller. */
export class Client {
  readonly base: string
  access = ""
  refresh = ""
  authentication = ""
  login = ""
  readonly headers: Record<string, string> = {}

  constructor(simulator: Pick<Simulator, "url"> | string) {
    this.base = typeof simulator === "string" ? simulator : simulator.url
  }

  async call(
    method: string,
    path: string,
    {
      body,
      headers = {},
      token = this.access
    }: {
      readonly body?: unknown
      readonly headers?: Readonly<Record<string, string>>
      readonly token?: string
    } = {}
  ): Promise<Answer> {
    const response = await fetch(`${this.base}${path}`, {
      method,
      redirect: "error",
      headers: {
        ...(token === "" ? {} : { authorization: `Bearer ${token}` }),
        ...(typeof body === "object" ? { "content-type": "application/json" } : {}),
        ...this.headers,
        ...headers
      },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) })
    })
    const text = await response.text()
    const isJson = /json/.test(response.headers.get("content-type") ?? "")
    return {
      status: response.status,
      headers: response.headers,
      text,
      json: (isJson && text !== "" ? JSON.parse(text) : {}) as Body
    }
  }

  async publicKey(usage: string): Promise<{ readonly id: string; readonly certificate: X509Certificate }> {
    const { json } = await this.call("GET", "/security/public-key-certificates", { token: "" })
    const listed = (json as unknown as Array<PublicKeyBody>)
      .filter((entry) => entry.usage.includes(usage))
      .sort((left, right) => Date.parse(right.validFrom) - Date.parse(left.validFrom))[0]!
    return {
      id: listed.publicKeyId,
      certificate: new X509Certificate(Buffer.from(listed.certificate, "base64"))
    }
  }

  async wrap(usage: string, bytes: Uint8Array): Promise<{ readonly id: string; readonly text: string }> {
    const { certificate, id } = await this.publicKey(usage)
    const padding = { padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: "sha256" }
    return { id, text: publicEncrypt({ key: certificate.publicKey, ...padding }, bytes).toString("base64") }
  }

  /** Begins a login with a token. */
  async beginTokenLogin(
    token: string,
    context: string,
    changes: { readonly time?: (ms: number) => number; readonly policy?: object } = {}
  ): Promise<Answer> {
    const challenge = (await this.call("POST", "/auth/challenge", { token: "" })).json
    const time = (changes.time ?? ((ms: number) => ms))(challenge.timestampMs)
    const { id, text } = await this.wrap("KsefTokenEncryption", Buffer.from(`${token}|${time}`))
    const answer = await this.call("POST", "/auth/ksef-token", {
      token: "",
      body: {
        challenge: challenge.challenge,
        contextIdentifier: { type: typeOf(context), value: context },
        encryptedToken: text,
        publicKeyId: id,
        ...(changes.policy === undefined ? {} : { authorizationPolicy: changes.policy })
      }
    })
    if (answer.status === 202) {
      this.login = answer.json.referenceNumber
      this.authentication = answer.json.authenticationToken.token
    }
    return answer
  }

  /** Begins a login with a document that `sign` makes of a challenge. */
  async beginCertificateLogin(
    sign: (challenge: string) => string | Promise<string>,
    query: string = ""
  ): Promise<Answer> {
    const { challenge } = (await this.call("POST", "/auth/challenge", { token: "" })).json
    const answer = await this.call("POST", `/auth/xades-signature${query}`, {
      token: "",
      headers: { "content-type": "application/xml" },
      body: await sign(challenge)
    })
    if (answer.status === 202) {
      this.login = answer.json.referenceNumber
      this.authentication = answer.json.authenticationToken.token
    }
    return answer
  }

  /** The status of the login, when it is decided. */
  async loginStatus(): Promise<StatusBody> {
    for (;;) {
      const { json } = await this.call("GET", `/auth/${this.login}`, { token: this.authentication })
      if (json.status.code !== 100) return json.status
      await sleep(20)
    }
  }

  async redeem(): Promise<Answer> {
    const answer = await this.call("POST", "/auth/token/redeem", { token: this.authentication })
    if (answer.status === 200) {
      this.access = answer.json.accessToken.token
      this.refresh = answer.json.refreshToken.token
    }
    return answer
  }

  /** Logs in with a token. */
  static async login(
    simulator: Pick<Simulator, "url" | "nip" | "token">,
    token = simulator.token,
    context = simulator.nip
  ): Promise<Client> {
    const client = new Client(simulator)
    await client.beginTokenLogin(token, context)
    const status = await client.loginStatus()
    if (status.code !== 200) throw new Error(`The login ended with ${JSON.stringify(status)}`)
    await client.redeem()
    return client
  }

  async encryption(): Promise<{ readonly secret: SessionSecret; readonly body: object }> {
    const secret = { key: randomBytes(32), vector: randomBytes(16) }
    const { id, text } = await this.wrap("SymmetricKeyEncryption", secret.key)
    return {
      secret,
      body: { encryptedSymmetricKey: text, initializationVector: secret.vector.toString("base64"), publicKeyId: id }
    }
  }

  async open(form = fa3Form, headers: Readonly<Record<string, string>> = {}): Promise<Opened> {
    const { body, secret } = await this.encryption()
    const answer = await this.call("POST", "/sessions/online", { body: { formCode: form, encryption: body }, headers })
    if (answer.status !== 201) throw new Error(`The session was not opened: ${answer.status} ${answer.text}`)
    return { reference: answer.json.referenceNumber, ...secret }
  }

  sendBody(session: SessionSecret, xml: string | Uint8Array, changes: object = {}): object {
    const plain = Buffer.from(xml)
    const encrypted = encrypt(session, plain)
    return {
      invoiceHash: sha256(plain),
      invoiceSize: plain.length,
      encryptedInvoiceHash: sha256(encrypted),
      encryptedInvoiceSize: encrypted.length,
      encryptedInvoiceContent: encrypted.toString("base64"),
      ...changes
    }
  }

  send(session: Opened, xml: string | Uint8Array, changes: object = {}): Promise<Answer> {
    const body = this.sendBody(session, xml, changes)
    return this.call("POST", `/sessions/online/${session.reference}/invoices`, { body })
  }

  /** Sends a document and waits for its verdict. */
  async submit(session: Opened, xml: string | Uint8Array, changes: object = {}): Promise<InvoiceBody> {
    const answer = await this.send(session, xml, changes)
    if (answer.status !== 202) throw new Error(`The document was not taken: ${answer.status} ${answer.text}`)
    return this.verdict(session.reference, answer.json.referenceNumber)
  }

  async verdict(session: string, invoice: string): Promise<InvoiceBody> {
    for (;;) {
      const { json } = await this.call("GET", `/sessions/${session}/invoices/${invoice}`)
      if (json.status.code >= 200) return json
      await sleep(20)
    }
  }

  close(session: { readonly reference: string }, kind: "online" | "batch" = "online"): Promise<Answer> {
    return this.call("POST", `/sessions/${kind}/${session.reference}/close`)
  }

  /** The status of a session, when it is decided. */
  async sessionStatus(reference: string): Promise<Body> {
    for (;;) {
      const { json, status } = await this.call("GET", `/sessions/${reference}`)
      if (status !== 429 && json.status.code >= 200) return json
      // A batch that takes long is polled more often than the limits allow.
      await sleep(status === 429 ? 1000 : 20)
    }
  }
}

const typeOf = (context: string): string =>
  !context.includes("-") ? "Nip" : /-\d{5}$/.test(context) ? "InternalId" : "NipVatUe"

/** The forms as opening requests name them. */
export const fa3Form = { systemCode: "FA (3)", schemaVersion: "1-0E", value: "FA" }
export const faRrForm = { systemCode: "FA_RR (1)", schemaVersion: "1-1E", value: "FA_RR" }

/** The codes of an answer with status 400, in either format. */
export const codes = ({ json }: Answer): ReadonlyArray<number> =>
  json.errors?.map(({ code }) => code) ??
  json.exception?.exceptionDetailList.map(({ exceptionCode }) => exceptionCode) ??
  []
