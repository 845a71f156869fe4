/** The stacks of a caller's mistakes. */
import { createClient, createControlPlane, getInvoice } from "@govoice/client"
import { assert, describe, it } from "vitest"

describe("The stack of a caller's mistake contains the caller", () => {
  const options = { apiKey: "sk_test_0000000000000000000000000000", baseUrl: "http://127.0.0.1:9", maxRetries: 0 }
  const fails = async () => {
    await Promise.resolve()
    throw new TypeError("fetch failed")
  }

  const mistakes: Readonly<Record<string, () => unknown>> = {
    "createClient without a key": () => createClient({ ...options, apiKey: "" }),
    "createClient with half a URL": () => createClient({ ...options, baseUrl: "example.com" }),
    "createControlPlane with half a URL": () => createControlPlane({ baseUrl: "example.com" }),
    "a malformed idempotency key": () =>
      createClient(options).invoices.submit({ invoiceXml: "<a/>" }, { idempotencyKey: "a\nb" }),
    "a wrong base URL": () => createClient({ ...options, fetch: fails }).invoices.get("inv_1"),
    "a wrong base URL in a function": () => getInvoice(createClient({ ...options, fetch: fails }), "inv_1"),
    "a wrong base URL in a list": async () => {
      for await (const invoice of createClient({ ...options, fetch: fails }).invoices.list()) void invoice
    }
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
