/** One login at KSeF with a stored credential, for a check: nothing is retried, and nothing is stored. */
import type { KsefClient, KsefError } from "@govoice/ksef/client"
import { PublicKeys } from "@govoice/ksef/crypto"
import { ErrorCodes, type LoginAnswers, LoginStatuses } from "@govoice/ksef/protocol"
import { LoginDocument, SigningCredential } from "@govoice/ksef/xades"
import { Clock, Data, Effect, Redacted, Result } from "effect"
import type { Credential } from "../../invoices/live/GatewayCredentials.ts"

/** KSeF refuses the credential. */
export class LoginRefused extends Data.TaggedError("LoginRefused")<{
  readonly code: LoginStatuses.CredentialCode
  readonly message: string
}> {}

interface Login {
  readonly credential: Credential
  readonly contextNip: string
}

const begin = Effect.fnUntraced(function* (client: KsefClient.KsefClient, { contextNip, credential }: Login) {
  const challenge = yield* client.challenge
  const now = yield* Clock.currentTimeMillis
  if (credential.type === "ksef_token") {
    const publicKey = PublicKeys.select(yield* client.publicKeys, "KsefTokenEncryption", now)
    if (publicKey === undefined) return yield* Effect.die(new Error("KSeF lists no public key that can be used"))
    return yield* client.loginWithToken({ challenge, contextNip, token: credential.token, publicKey })
  }
  const { certificate, privateKey } = credential
  const pair = SigningCredential.read({ certificate, privateKey: Redacted.value(privateKey) }, now)
  if (Result.isFailure(pair)) {
    return yield* new LoginRefused({ code: "certificate_refused", message: pair.failure.message })
  }
  // KSeF refuses a signature from its future.
  const document = LoginDocument.write(
    { challenge: challenge.challenge, contextNip, signingTime: now - 60_000 },
    pair.success
  )
  return yield* client.loginWithXades(document)
})

const pollMs = 500
const maxPolls = 60

const refusalOf = (error: KsefError): LoginRefused | KsefError => {
  const operation = error.call === "loginWithXades" ? "loginWithXades" : "loginWithToken"
  const row = error.problem?.errors
    .map(({ code }) => ErrorCodes.errorCode(operation, code))
    .find((found) => found?.refusal !== undefined)
  return row?.refusal === undefined
    ? error
    : new LoginRefused({ code: row.refusal, message: `KSeF refuses the login: ${row.meaning}.` })
}

/** Logs in, and returns the tokens of the login. */
export const logIn = (
  client: KsefClient.KsefClient,
  login: Login
): Effect.Effect<typeof LoginAnswers.Tokens.Type, LoginRefused | KsefError> =>
  Effect.gen(function* () {
    const started = yield* begin(client, login)
    for (let poll = 0; poll < maxPolls; poll++) {
      yield* Effect.sleep(pollMs)
      const { status } = yield* client.loginStatus(started)
      const row = LoginStatuses.loginStatus(status)
      if (row.action === "poll") continue
      if (row.action === "redeem") return yield* client.redeem(started.authenticationToken.token)
      return yield* new LoginRefused({
        code: row.refusal ?? "credential_invalid",
        message: [`KSeF refuses the login: ${row.meaning}.`, ...(status.details ?? [])].join(" ")
      })
    }
    return yield* new LoginRefused({ code: "credential_invalid", message: "KSeF did not finish the login." })
  }).pipe(Effect.catchTag("KsefError", (error) => Effect.fail(refusalOf(error))))
