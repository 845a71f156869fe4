/** The stacks of a caller's mistakes. */
import { createVerifier, sign, signedHeaders, signSync } from "@govoice/webhooks"
import { createHandler } from "@govoice/webhooks/node"
import { signedWebhook } from "@govoice/webhooks/testing"
import { assert, describe, it } from "vitest"

describe("The stack of a caller's mistake contains the caller", () => {
  const verifier = createVerifier({ secret: "whsec_x" })
  // The mistake that types prevent: a body that a parser has read.
  const parsed = { id: "evt_1" } as unknown as string
  const message = { secret: "", id: "evt_1", timestamp: "2026-11-20T10:00:00.000Z", body: "{}" }

  const mistakes: Readonly<Record<string, () => unknown>> = {
    "createVerifier without a secret": () => createVerifier({ secret: "" }),
    "createHandler without a secret": () => createHandler({ secret: "" }, () => undefined),
    "verify with a parsed body": () => verifier.verify(parsed, {}),
    "verifySync with a parsed body": () => verifier.verifySync(parsed, {}),
    "sign without a secret": () => sign(message),
    "signSync without a secret": () => signSync(message),
    "signedHeaders without a secret": () => signedHeaders(message),
    "signedWebhook without a secret": () => signedWebhook({ secret: "", type: "invoice.accepted" })
  }

  it.each(Object.entries(mistakes))("%s", async (_, mistake) => {
    async function theCaller() {
      await mistake()
    }
    const error = await theCaller().then(
      () => assert.fail("did not fail"),
      (error: unknown) => error as Error
    )
    assert.match(error.stack ?? "", /theCaller/)
  })
})
