/** Derives each refresh token of the console from the one before it, so that a repeated refresh has the same result. */
import { Context, Layer } from "effect"
import { createHmac, hkdfSync } from "node:crypto"

/** Service that derives the successor of a refresh token. Nobody without the secret of the deployment can. */
export class SuccessorTokens extends Context.Service<
  SuccessorTokens,
  { readonly after: (refreshToken: string) => string }
>()("@govoice/server/crypto/SuccessorTokens") {}

/** Provides `SuccessorTokens` with a key derived from this secret. */
export const layer = (secret: string): Layer.Layer<SuccessorTokens> => {
  const key = new Uint8Array(hkdfSync("sha256", secret, "", "govoice console refresh tokens", 32))
  return Layer.succeed(SuccessorTokens)({
    after: (refreshToken) => createHmac("sha256", key).update(refreshToken).digest("base64url")
  })
}
