/** Access tokens that the control plane refuses, as it does after they have expired. */
import type { BrowserContext } from "playwright-core"

const issuedAt = (authorization: string): number =>
  (JSON.parse(Buffer.from(authorization.split(".")[1] ?? "", "base64url").toString()) as { iat: number }).iat

/** Refuses the tokens that the pages have, those of an earlier second, from now on. Returns how many requests it refused. */
export const refuseTokens = async (context: BrowserContext): Promise<() => number> => {
  const firstGood = Math.floor(Date.now() / 1000) + 1
  await new Promise((resolve) => setTimeout(resolve, 1100))
  let refused = 0
  await context.route("**/v1/control-plane/**", async (route) => {
    if (issuedAt(route.request().headers()["authorization"] ?? "") >= firstGood) return route.continue()
    refused++
    const error = { type: "authentication_error", code: "missing_access_token", message: "Expired.", param: null }
    await route.fulfill({
      status: 401,
      contentType: "application/json",
      body: JSON.stringify({ error: { ...error, request_id: "req_x", retryable: false } })
    })
  })
  return () => refused
}
