/**
 * Finds a session for a caller, if the caller may see it.
 */
import { isOwner, isSameSubject } from "../auth/bearer.ts"
import { badRequest, forbidden } from "../http/Reply.ts"
import type { Simulation } from "../Simulation.ts"
import type { Login, Session } from "../state/records.ts"

// KSeF words the same refusal in two ways.
const notFound = (reference: string, verb: "odnaleziona" | "znaleziona") =>
  badRequest(21173, `Sesja o numerze referencyjnym ${reference} nie została ${verb}.`)

/**
 * Returns a session of the caller's context. Every login with the right to send there may use it.
 *
 * @throws {Refusal} 21173 when there is none.
 */
export const sessionToUse = (
  { state }: Simulation,
  login: Login,
  reference: string,
  kind: Session["kind"]
): Session => {
  const session = state.sessions.get(reference)
  if (session === undefined || session.gone || session.kind !== kind || session.context !== login.context) {
    throw notFound(reference, kind === "online" ? "odnaleziona" : "znaleziona")
  }
  return session
}

const maySee = (login: Login, session: Session): boolean =>
  isOwner(login) ||
  isSameSubject(login.subject, session.subject) ||
  login.permissions.some((permission) => permission === "Introspection" || permission === "EnforcementOperations")

/**
 * Returns a session of the caller's context, to be read by who opened it, the owner of the context, or a holder of
 * `Introspection`.
 *
 * @throws {Refusal} 21173 when there is none, 403 when it is somebody else's.
 */
export const sessionToRead = ({ state }: Simulation, login: Login, reference: string): Session => {
  const session = state.sessions.get(reference)
  if (session === undefined || session.gone || session.context !== login.context) {
    throw notFound(reference, "znaleziona")
  }
  if (!maySee(login, session)) throw forbidden("insufficient-resource-access", "Brak dostępu do wskazanego zasobu.")
  return session
}

/** The sessions of a context that a caller may list. */
export const sessionsToList = ({ state }: Simulation, login: Login): ReadonlyArray<Session> => {
  const seesAll = login.permissions.some(
    (permission) => permission === "Introspection" || permission === "EnforcementOperations"
  )
  return Array.from(state.sessions.values()).filter(
    (session) =>
      !session.gone && session.context === login.context && (seesAll || isSameSubject(login.subject, session.subject))
  )
}
