/**
 * The connection of the page to the control plane: this origin, with the access token of the session.
 */
import { createTokenSession } from "@govoice/client"
import { accessToken, renew } from "../session/session.ts"

export const connection = createTokenSession({ baseUrl: location.origin, maxRetries: 0, accessToken, renew })
