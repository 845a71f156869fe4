/**
 * Every status of a login, and what becomes of the credential.
 *
 * @since 0.1.0
 */
import type { Status } from "./LoginAnswers.ts"

/**
 * The reaction of the gateway to a status, or to an error during a login.
 *
 * **Details**
 *
 * - `poll`: ask again in a moment.
 * - `redeem`: fetch the tokens.
 * - `log-in-again`: begin a new login; refuse the credential where the next ends alike.
 * - `refresh-keys`: read the public keys again, then `log-in-again`.
 * - `wait`: log in again after 5, 30 and 120 s.
 * - `refuse`: the credential cannot be used until it is replaced or repaired.
 * - `refuse-after-waiting`: log in again after a minute, three times, then refuse.
 *
 * @category models
 * @since 0.1.0
 */
export type LoginAction =
  | "poll"
  | "redeem"
  | "log-in-again"
  | "refresh-keys"
  | "wait"
  | "refuse"
  | "refuse-after-waiting"

/**
 * Why a credential is refused, as its owner sees it.
 *
 * @category models
 * @since 0.1.0
 */
export type CredentialCode =
  | "credential_without_rights"
  | "credential_revoked"
  | "credential_invalid"
  | "credential_inactive"
  | "credential_of_another_context"
  | "wrong_environment_or_key"
  | "certificate_refused"
  | "context_blocked"
  | "token_login_refused"

/**
 * One status.
 *
 * **Details**
 *
 * - `detail`: the documented Polish text that tells statuses of one code apart, where there are several. KSeF gives them no
 *   codes of their own. A text that varies is cut off where it does.
 * - `refusal`: what the owner sees, where the action is or ends in a refusal.
 *
 * @category models
 * @since 0.1.0
 */
export interface Row {
  readonly code: number
  readonly detail?: string
  readonly meaning: string
  readonly action: LoginAction
  readonly refusal?: CredentialCode
}

/**
 * The documented statuses.
 *
 * @category constants
 * @since 0.1.0
 */
export const loginStatuses: ReadonlyArray<Row> = [
  { code: 100, meaning: "in progress", action: "poll" },
  { code: 200, meaning: "success", action: "redeem" },
  { code: 415, meaning: "no rights in this context", action: "refuse", refusal: "credential_without_rights" },
  { code: 425, meaning: "revoked by the user", action: "log-in-again", refusal: "credential_revoked" },
  {
    code: 450,
    detail: "Nieprawidłowe wyzwanie autoryzacyjne",
    meaning: "wrong challenge",
    action: "log-in-again",
    refusal: "credential_invalid"
  },
  {
    code: 450,
    detail: "Nieprawidłowy token",
    meaning: "invalid token",
    action: "refuse",
    refusal: "credential_invalid"
  },
  {
    code: 450,
    detail: "Nieprawidłowy czas tokena",
    meaning: "wrong time in the encrypted token",
    action: "log-in-again",
    refusal: "credential_invalid"
  },
  {
    code: 450,
    detail: "Token unieważniony",
    meaning: "revoked token",
    action: "refuse",
    refusal: "credential_revoked"
  },
  {
    code: 450,
    detail: "Token nieaktywny",
    meaning: "inactive token, which may be about to be activated",
    action: "refuse-after-waiting",
    refusal: "credential_inactive"
  },
  {
    code: 450,
    detail: "Nieprawidłowe szyfrowanie tokena",
    meaning: "the token was encrypted with another key",
    action: "refresh-keys",
    refusal: "wrong_environment_or_key"
  },
  {
    code: 450,
    detail: "Nieprawidłowe kodowanie tokena",
    meaning: "the decrypted token has another form",
    action: "refresh-keys",
    refusal: "wrong_environment_or_key"
  },
  {
    code: 450,
    detail: "Token nie może być użyty w kontekście",
    meaning: "token of another context",
    action: "refuse",
    refusal: "credential_of_another_context"
  },
  ...(
    [
      ["Nieważny certyfikat", "certificate outside of its validity"],
      ["Błąd weryfikacji łańcucha certyfikatów", "the chain of the certificate cannot be verified"],
      ["Niezaufany łańcuch certyfikatów", "the chain of the certificate is not trusted"],
      ["Certyfikat odwołany", "revoked certificate"],
      ["Certyfikat zawieszony", "suspended certificate"],
      ["Niepoprawny certyfikat", "invalid certificate"]
    ] as const
  ).map(([detail, meaning]): Row => ({
    code: 460,
    detail,
    meaning,
    action: "refuse",
    refusal: "certificate_refused"
  })),
  { code: 470, meaning: "credential of a deceased person", action: "refuse", refusal: "credential_invalid" },
  {
    code: 480,
    meaning: "blocked: a security incident is suspected",
    action: "refuse",
    refusal: "context_blocked"
  },
  { code: 500, meaning: "unknown error", action: "wait" },
  { code: 550, meaning: "canceled by the system", action: "wait" }
]

/**
 * Returns what a status means, also one that is not documented. A detail that is not documented has the meaning of the
 * row that stands for its code: an invalid token, an invalid certificate.
 *
 * @category getters
 * @since 0.1.0
 */
export const loginStatus = ({ code, details }: Pick<Status, "code" | "details">): Row => {
  const rows = loginStatuses.filter((row) => row.code === code)
  const exact = rows.find(
    ({ detail }) => detail !== undefined && (details ?? []).some((text) => text.startsWith(detail))
  )
  const found = exact ?? rows.find(({ detail }) => detail === undefined || general.has(detail))
  if (found !== undefined) return found
  return code < 200
    ? { code, meaning: "not documented", action: "poll" }
    : { code, meaning: "not documented", action: "wait" }
}

const general: ReadonlySet<string> = new Set(["Nieprawidłowy token", "Niepoprawny certyfikat"])
