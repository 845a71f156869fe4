/**
 * The verified webhooks of the receiver.
 */
import type { VerifiedWebhook } from "@govoice/webhooks"

const withinMs = 20_000

const invoiceIdOf = ({ event }: VerifiedWebhook): string | undefined => {
  const data: unknown = event.data
  const invoice = typeof data === "object" && data !== null && "invoice" in data ? data.invoice : undefined
  const id = typeof invoice === "object" && invoice !== null && "id" in invoice ? invoice.id : undefined
  return typeof id === "string" ? id : undefined
}

export class Webhooks {
  private readonly received: Array<VerifiedWebhook> = []
  private readonly listeners = new Set<(webhook: VerifiedWebhook) => void>()

  add(webhook: VerifiedWebhook): void {
    this.received.push(webhook)
    for (const listener of this.listeners) listener(webhook)
  }

  get count(): number {
    return this.received.length
  }

  get types(): ReadonlySet<string> {
    return new Set(this.received.map(({ event }) => event.type))
  }

  /** The event types of an invoice, in order of arrival. */
  of(invoiceId: string): ReadonlyArray<string> {
    return this.received.filter((webhook) => invoiceIdOf(webhook) === invoiceId).map(({ event }) => event.type)
  }

  /** Calls the listener with each new webhook, until the returned function is called. */
  listen(listener: (webhook: VerifiedWebhook) => void): () => void {
    this.listeners.add(listener)
    return () => void this.listeners.delete(listener)
  }

  /** Waits for a webhook of this type about this invoice. */
  until(invoiceId: string, type: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => end(new Error(`No webhook ${type} arrived within ${withinMs / 1000} s.`)),
        withinMs
      )
      const abort = () => end(new Error("Stopped."))
      const stop = this.listen(() => check())
      const end = (error?: Error) => {
        clearTimeout(timer)
        signal.removeEventListener("abort", abort)
        stop()
        if (error === undefined) resolve()
        else reject(error)
      }
      const check = () => {
        if (this.of(invoiceId).includes(type)) end()
      }
      signal.addEventListener("abort", abort)
      check()
    })
  }
}
