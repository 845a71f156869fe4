/**
 * The verifiers to compare. Each gets the bytes of a body and the headers of a request, as an HTTP server has them; a
 * library that needs text includes the conversion. Each is measured with the event as its result (`parsed`) and with the
 * verification alone (`verified`). For a library that always parses, the parsing time of another one that decodes equally
 * often is subtracted.
 */
import { createVerifier, signSync } from "@govoice/webhooks"
import { verify as octokitVerify } from "@octokit/webhooks-methods"
import { createHmac, createSecretKey, timingSafeEqual } from "node:crypto"
import { Webhook as StandardWebhook } from "standardwebhooks"
import { Stripe } from "stripe"
import { Webhook as SvixWebhook } from "svix"

export type Headers = Record<string, string>

export interface Subject {
  readonly name: string
  /** Returns the headers of a valid request. */
  readonly sign: (id: string, body: Buffer) => Headers
  /** Returns the event, or throws. */
  readonly parsed: (body: Buffer, headers: Headers) => unknown
  /** Throws if the signature does not match. */
  readonly verified?: (body: Buffer, headers: Headers) => unknown
  /** Without `verified`: the subject whose parsing time is subtracted from `parsed`. */
  readonly parsesLike?: string
}

const secret = "whsec_kfUZ5zdM0s0m5sLzu0Md5ZZ3g1vSyrIhrVOTm0VbTPw"
const base64Secret = "whsec_kfUZ5zdM0s0m5sLzu0Md5ZZ3g1vSyrIhrVOTm0VbTPw="

/** The headers of a webhook besides its signature. */
const common: Headers = {
  host: "receiver.example.com",
  connection: "keep-alive",
  "content-type": "application/json",
  "content-length": "1024",
  "user-agent": "Govoice-Webhooks/1",
  accept: "*/*"
}

const govoice = (id: string, body: Buffer): Headers => {
  const timestamp = new Date().toISOString()
  return {
    ...common,
    "gov-event-id": id,
    "gov-timestamp": timestamp,
    "gov-signature": signSync({ secret, timestamp, body })
  }
}

const key = createSecretKey(secret, "utf8")
const expected = Buffer.alloc(67)
const received = Buffer.alloc(67)

const judge = (body: Buffer, headers: Headers) => {
  const mac = createHmac("sha256", key).update(`${headers["gov-timestamp"]}.`).update(body).digest("hex")
  expected.write(`v1=${mac}`, "latin1")
  received.write(headers["gov-signature"]!, "latin1")
  if (!timingSafeEqual(expected, received)) throw new Error("no match")
}

/**
 * The minimum for a verified event on Node: no check of age or headers, one secret, one signature. The buffers are reused,
 * which was the fastest way to call `timingSafeEqual` that was found.
 */
const floor: Subject = {
  name: "floor",
  sign: govoice,
  parsed: (body, headers) => {
    judge(body, headers)
    return JSON.parse(body.toString()) as unknown
  },
  verified: judge
}

const verifier = createVerifier({ secret })

const octokitJudge = async (text: string, headers: Headers) => {
  if (!(await octokitVerify(secret, text, headers["x-hub-signature-256"]!))) throw new Error("no match")
}

const stripe = new Stripe("sk_test_unused")

const standard = new StandardWebhook(base64Secret)
const svix = new SvixWebhook(base64Secret)

const standardSign = (id: string, body: Buffer): Headers => {
  const now = new Date()
  return {
    ...common,
    "webhook-id": id,
    "webhook-timestamp": String(Math.floor(now.getTime() / 1000)),
    "webhook-signature": standard.sign(id, now, body.toString())
  }
}

export const ours: Subject = {
  name: "verifySync",
  sign: govoice,
  parsed: verifier.verifySync,
  parsesLike: "floor"
}

export const subjects: ReadonlyArray<Subject> = [
  floor,
  ours,
  { ...ours, name: "verify", parsed: verifier.verify },
  {
    name: "@octokit/webhooks-methods",
    sign: (_id, body) => ({
      ...common,
      "x-hub-signature-256": `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`
    }),
    parsed: async (body, headers) => {
      const text = body.toString()
      await octokitJudge(text, headers)
      return JSON.parse(text) as unknown
    },
    verified: (body, headers) => octokitJudge(body.toString(), headers)
  },
  {
    name: "stripe",
    sign: (_id, body) => ({
      ...common,
      "stripe-signature": stripe.webhooks.generateTestHeaderString({ payload: body.toString(), secret })
    }),
    parsed: (body, headers) => stripe.webhooks.constructEvent(body, headers["stripe-signature"]!, secret),
    parsesLike: "@octokit/webhooks-methods"
  },
  {
    name: "standardwebhooks",
    sign: standardSign,
    parsed: (body, headers) => standard.verify(body, headers),
    verified: (body, headers) => standard.verify(body, headers, { jsonParse: false })
  },
  {
    name: "svix",
    sign: standardSign,
    parsed: (body, headers) => {
      const text = body.toString()
      svix.verify(text, headers)
      return JSON.parse(text) as unknown
    },
    verified: (body, headers) => svix.verify(body.toString(), headers)
  }
]
