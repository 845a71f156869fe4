/**
 * The connection of the page to the control plane: this origin, with the access token of the session.
 */
import { createSession } from "@govoice/client"
import { accessToken, renew } from "../session/session.ts"

export const connection = createSession({
  baseUrl: location.origin,
  maxRetries: 0,
  fetch: async (url, init) => {
    const send = () => {
      const token = accessToken()
      return fetch(url, {
        ...init,
        headers: { ...init.headers, ...(token !== undefined && { authorization: `Bearer ${token}` }) }
      })
    }
    const response = await send()
    return response.status === 401 && (await renew()) ? send() : response
  }
})
