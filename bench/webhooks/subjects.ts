/**
 * What is compared. Every subject gets the bytes of a body and the headers of a request, as an HTTP server has them,
 * and ends with the event: who wants text pays for making it, and who gives only a verdict has the JSON parsed for it.
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
  /** The headers of a good request. */
  readonly sign: (id: string, body: Buffer) => Headers
  /** Gives the event, or throws. */
  readonly verify: (body: Buffer, headers: Headers) => unknown
}

const secret = "whsec_kfUZ5zdM0s0m5sLzu0Md5ZZ3g1vSyrIhrVOTm0VbTPw"
const base64Secret = "whsec_kfUZ5zdM0s0m5sLzu0Md5ZZ3g1vSyrIhrVOTm0VbTPw="

/** What comes with a webhook besides its signature. */
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

/**
 * The least that gives a verified event on Node: no age, no check of any header, one secret, one signature. The buffers
 * are kept because that is the fastest way to `timingSafeEqual` that was found.
 */
const floor: Subject = {
  name: "floor",
  sign: govoice,
  verify: (body, headers) => {
    const mac = createHmac("sha256", key).update(`${headers["gov-timestamp"]}.`).update(body).digest("hex")
    expected.write(`v1=${mac}`, "latin1")
    received.write(headers["gov-signature"]!, "latin1")
    if (!timingSafeEqual(expected, received)) throw new Error("no match")
    return JSON.parse(body.toString()) as unknown
  }
}

const verifier = createVerifier({ secret })

const octokitSign = (_id: string, body: Buffer): Headers => ({
  ...common,
  "x-hub-signature-256": `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`
})

const octokit: Subject = {
  name: "@octokit/webhooks-methods",
  sign: octokitSign,
  verify: async (body, headers) => {
    const text = body.toString()
    if (!(await octokitVerify(secret, text, headers["x-hub-signature-256"]!))) throw new Error("no match")
    return JSON.parse(text) as unknown
  }
}

const octokitVerdict: Subject = {
  name: "@octokit/webhooks-methods, verdict only",
  sign: octokitSign,
  verify: async (body, headers) => {
    if (!(await octokitVerify(secret, body.toString(), headers["x-hub-signature-256"]!))) throw new Error("no match")
  }
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

export const ours: Subject = { name: "verifySync", sign: govoice, verify: verifier.verifySync }

export const subjects: ReadonlyArray<Subject> = [
  floor,
  ours,
  { name: "verify", sign: govoice, verify: verifier.verify },
  octokit,
  octokitVerdict,
  {
    name: "stripe",
    sign: (_id, body) => ({
      ...common,
      "stripe-signature": stripe.webhooks.generateTestHeaderString({ payload: body.toString(), secret })
    }),
    verify: (body, headers) => stripe.webhooks.constructEvent(body, headers["stripe-signature"]!, secret)
  },
  {
    name: "standardwebhooks",
    sign: standardSign,
    verify: (body, headers) => standard.verify(body, headers)
  },
  {
    name: "svix",
    sign: standardSign,
    verify: (body, headers) => {
      const text = body.toString()
      svix.verify(text, headers)
      return JSON.parse(text) as unknown
    }
  }
]
