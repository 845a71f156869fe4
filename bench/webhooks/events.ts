/**
 * The bodies to verify, of an exact size and two shapes: `text` is an event with one long text, which takes almost no time to
 * parse; `realistic` is an event as the service sends it, with more metadata.
 */
import type { WebhookEvent } from "@govoice/webhooks"
import { signedWebhook } from "@govoice/webhooks/testing"

export type Text = "ASCII" | "Polish"
export type Shape = "text" | "realistic"

const sentences = {
  ASCII: "Invoice for goods delivered in November, payable within 14 days by bank transfer. ",
  Polish: "Zażółć gęślą jaźń: faktura za dostawę do Łodzi, płatność przelewem w ciągu 14 dni. "
}

const print = (metadata: Record<string, string>): { readonly id: string; readonly text: string } => {
  const { body, event } = signedWebhook({
    secret: "whsec_unused",
    type: "invoice.accepted",
    id: "evt_01kq5v4zfxe1r8t0m3n5p7q9sv",
    data: { invoice: { metadata } }
  }) as { readonly body: string; readonly event: WebhookEvent }
  return { id: event.id, text: body }
}

interface Sized {
  readonly id: string
  readonly body: Buffer
}

const longText = (bytes: number, kind: Text): Sized => {
  const id = "evt_01kq5v4zfxe1r8t0m3n5p7q9sv"
  const print = (note: string) => JSON.stringify({ id, object: "event", type: "invoice.accepted", data: { note } })
  const room = bytes - Buffer.byteLength(print(""))
  const sentence = sentences[kind]
  const whole = sentence.repeat(Math.floor(room / Buffer.byteLength(sentence)))
  return { id, body: Buffer.from(print(whole.padEnd(whole.length + room - Buffer.byteLength(whole), "x"))) }
}

const realistic = (bytes: number, kind: Text): Sized => {
  const metadata: Record<string, string> = {}
  const missing = () => bytes - Buffer.byteLength(print(metadata).text)
  const value = sentences[kind].repeat(5).slice(0, 400)
  for (let index = 0; missing() > Buffer.byteLength(value) + 40; index += 1) metadata[`note_${index}`] = value
  metadata["rest"] = ""
  const rest = sentences[kind].repeat(10)
  let length = 0
  while (missing() > 2 && length < rest.length) metadata["rest"] = rest.slice(0, (length += 1))
  metadata["rest"] += "x".repeat(Math.max(0, missing()))
  const { id, text } = print(metadata)
  return { id, body: Buffer.from(text) }
}

/** An event of exactly so many bytes of UTF-8. */
export const eventOfSize = (shape: Shape, bytes: number, kind: Text): Sized => {
  const sized = (shape === "text" ? longText : realistic)(bytes, kind)
  if (sized.body.length !== bytes) throw new Error(`An event of ${sized.body.length} bytes instead of ${bytes}`)
  return sized
}
