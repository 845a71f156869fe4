/**
 * The common part of opening both kinds of session: the form, and the wrapped key.
 */
import type { AuthorizedCall } from "../http/Call.ts"
import { badRequest } from "../http/Reply.ts"
import type { FormName, Session } from "../state/records.ts"

/** The form of documents, as an opening request names it. */
export interface FormCode {
  readonly systemCode: string
  readonly schemaVersion: string
  readonly value: string
}

/** The wrapped key, as an opening request carries it. */
export interface Encryption {
  readonly encryptedSymmetricKey: string
  readonly initializationVector: string
  readonly publicKeyId?: string | null
}

const forms: ReadonlyArray<FormCode & { readonly systemCode: FormName }> = [
  { systemCode: "FA (3)", schemaVersion: "1-0E", value: "FA" },
  { systemCode: "FA_RR (1)", schemaVersion: "1-1E", value: "FA_RR" }
]

const formOf = ({ schemaVersion, systemCode, value }: FormCode): FormName => {
  const form = forms.find(
    (known) => known.systemCode === systemCode && known.schemaVersion === schemaVersion && known.value === value
  )
  if (form === undefined) {
    const known = forms.map((one) => `${one.systemCode} ${one.schemaVersion} ${one.value}`).join(", ")
    throw badRequest(
      21405,
      `formCode: nieobsługiwany schemat ${systemCode} ${schemaVersion} ${value}. The simulator knows: ${known}.`
    )
  }
  return form.systemCode
}

/**
 * Returns the members that every new session has. A key that cannot be decrypted is no error here: the session ends with
 * status 415.
 *
 * @throws {Refusal} 21405 for a form or a vector, 21470 for a key id that is not supported.
 */
export const newSession = (
  { headers, login, now, simulation }: AuthorizedCall,
  kind: Session["kind"],
  formCode: FormCode,
  { encryptedSymmetricKey, initializationVector, publicKeyId }: Encryption
): Omit<Session, "validUntil" | "batch"> => {
  const form = formOf(formCode)
  if (Buffer.from(initializationVector, "base64").length !== 16) {
    throw badRequest(21405, "encryption.initializationVector: oczekiwano 16 bajtów.")
  }
  const decrypt = simulation.keys.choose("SymmetricKeyEncryption", publicKeyId)
  if (decrypt === undefined) throw badRequest(21470, `Klucz o identyfikatorze ${publicKeyId} nie jest wspierany.`)
  const key = decrypt(Buffer.from(encryptedSymmetricKey, "base64"))
  const features = String(headers["x-ksef-feature"] ?? "")
  return {
    reference: simulation.state.serials.reference(kind === "online" ? "session" : "batchSession", now),
    kind,
    context: login.context,
    login: login.reference,
    subject: login.subject,
    form,
    createdAt: now,
    updatedAt: now,
    key: key?.length === 32 ? key.toString("base64") : null,
    vector: initializationVector,
    offline: false,
    checksNips: simulation.options.environment !== "test" || features.includes("subject-identifier-validation"),
    closedAt: null,
    gone: false,
    failure: null,
    upo: []
  }
}
