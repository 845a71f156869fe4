/**
 * TypeScript programs as text. They are compiled in projects that have only the packages installed.
 */

/** Uses the packages without Node modules. */
export const anywhere = `
import { createClient, isApiError, type Invoice } from "@govoice/client"
import { createVerifier, type WebhookEvent } from "@govoice/webhooks"
import { signedWebhook } from "@govoice/webhooks/testing"
import { ErrorCatalog, InvoiceState } from "@govoice/core"
import { Api, Problems } from "@govoice/api"

const client = createClient({ apiKey: "sk_test_0000000000000000000000000000", baseUrl: "https://api.example.com" })

export const submit = async (invoiceXml: string): Promise<Invoice | string> => {
  try {
    return await client.invoices.submit({ invoiceXml, metadata: { order: "4711" } })
  } catch (error) {
    if (isApiError(error)) return error.code
    throw error
  }
}

// @ts-expect-error an invoice without a document
void client.invoices.submit({})

export const read = (event: WebhookEvent): string | undefined =>
  event.type === "invoice.rejected" && "invoice" in event.data ? event.id : undefined

const { verify } = createVerifier({ secret: "whsec_x" })
export const verified: Promise<{ readonly id: string; readonly timestamp: Date }> = verify("{}", new Headers())

export const next: string | null = InvoiceState.transitions.queued.claim
export const codes: ReadonlyArray<ErrorCatalog.ErrorCode> = ErrorCatalog.codes
export const groups = Object.keys(Api.groups)
export const problem: string = Problems.make("not_found", "req_1").error.code
export const webhook = signedWebhook({ secret: "whsec_x", type: "invoice.accepted" })
`

/** Uses the packages that need Node, and the Effect APIs. */
export const onNode = `${anywhere}
import { Dispatcher, judgeUrl, makeDispatcher, type Outcome } from "@govoice/dispatcher"
import { createVerifier as createEffectVerifier } from "@govoice/webhooks/effect"
import * as Effect from "effect/Effect"

export const send = async (url: string): Promise<Outcome["_tag"]> => {
  await using dispatcher = makeDispatcher()
  return (await dispatcher.send({ url, body: "{}" }))._tag
}

export const program: Effect.Effect<Outcome> = Effect.gen(function* () {
  const { send } = yield* Dispatcher
  return yield* send({ url: "https://example.com", body: "{}" })
}).pipe(Effect.provide(Dispatcher.layer()))

export const rule: string = judgeUrl("https://127.0.0.1").ok ? "none" : "some"
export const inEffect = createEffectVerifier({ secret: "whsec_x" }).verify("{}", {})
`

/** Uses the promise API of the dispatcher, whose types need neither Effect nor DOM. */
export const withPromises = `
import { Backoff, describe, judgeUrl, makeDispatcher, type Outcome } from "@govoice/dispatcher/promise"

const dispatcher = makeDispatcher({ deadlineMs: 5_000, resolve: async (hostname, { signal }) => (signal.aborted ? [] : [hostname]) })

export const send = async (url: string, signal: AbortSignal): Promise<Outcome["_tag"]> =>
  (await dispatcher.send({ url, body: "{}" }, { signal }))._tag

export const wait: number | undefined = Backoff.nextDelay({ attempt: 1 })
export const rule: string = judgeUrl(new URL("https://127.0.0.1")).ok ? "none" : "some"
export const sentence: (outcome: Outcome) => string = describe
`
