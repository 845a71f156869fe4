/**
 * Opens interactive sessions on first need, reuses them, and closes them when they are idle, old or full. A session belongs to
 * one organization and form.
 */
import { SealedDocument, SessionKey } from "@govoice/ksef/crypto"
import { FormCode } from "@govoice/ksef/protocol"
import type { Ids } from "@govoice/core"
import { Clock, Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { LaneLost } from "./LaneQueue.ts"
import * as LaneRules from "./LaneRules.ts"
import type { FormName } from "./LaneRules.ts"
import { failureOf } from "./CallFailure.ts"
import { authorized, type LaneContext, stepFailure } from "./LaneContext.ts"
import type { LoginError } from "./Logins.ts"

/** A session whose key this process has. */
export interface OpenSession {
  readonly id: string
  readonly reference: string
  readonly organizationId: Ids.OrganizationId
  readonly form: FormName
  readonly openedAt: number
  readonly validUntil: number
  readonly key: SessionKey
  sent: number
  usedAt: number
}

/** The interactive sessions of a lane. */
export interface InteractiveSessions {
  /** Returns a session that documents can be sent in. */
  readonly get: (organizationId: Ids.OrganizationId, form: FormName) => Effect.Effect<OpenSession, LoginError>
  readonly seal: (session: OpenSession, xml: string) => SealedDocument.SealedDocument
  /** Ends the use of a session that the national system does not accept any more. It is closed, unless it is over. */
  readonly abandon: (
    session: OpenSession,
    options: { readonly isOver: boolean }
  ) => Effect.Effect<void, LaneLost | SqlError.SqlError>
  /** Closes sessions that are idle, old or full, and returns the time at which the next one will be. */
  readonly closeDue: Effect.Effect<number, LoginError>
  readonly closeAll: Effect.Effect<void>
  readonly count: () => number
}

const isDue = ({ openedAt, sent, usedAt, validUntil }: OpenSession, now: number): boolean =>
  now >= Math.min(usedAt + LaneRules.session.idleMs, openedAt + LaneRules.session.maxAgeMs, validUntil - 60_000) ||
  sent >= LaneRules.session.maxDocuments

/** Makes the interactive sessions of a lane. */
export const make = (context: LaneContext): InteractiveSessions => {
  const { lane, store, system } = context
  const open = new Map<string, OpenSession>()
  const keyOf = (organizationId: string, form: FormName) => `${organizationId} ${form}`

  const begin = Effect.fnUntraced(function* (organizationId: Ids.OrganizationId, form: FormName) {
    const id = yield* store.beginSession(lane, organizationId, "online")
    const sessionKey = SessionKey.generate()
    const opening = Effect.gen(function* () {
      const publicKey = yield* context.keys.get("SymmetricKeyEncryption", context.call)
      return yield* authorized(context, organizationId, "openOnline", (accessToken) =>
        system.client.openOnline({ accessToken, form: FormCode.formCodes[form], sessionKey, publicKey })
      )
    })
    const opened = yield* Effect.tapError(opening, () =>
      Effect.ignore(store.write(lane, { sessions: [{ id, state: "abandoned", dueAt: null }] }))
    )
    const now = yield* Clock.currentTimeMillis
    yield* store.write(lane, {
      sessions: [
        {
          id,
          state: "open",
          reference: opened.referenceNumber,
          validUntil: new Date(opened.validUntil),
          dueAt: null
        }
      ]
    })
    const session: OpenSession = {
      id,
      reference: opened.referenceNumber,
      organizationId,
      form,
      openedAt: now,
      validUntil: opened.validUntil,
      key: sessionKey,
      sent: 0,
      usedAt: now
    }
    open.set(keyOf(organizationId, form), session)
    return session
  }, Effect.uninterruptible)

  const evict = (session: OpenSession) => {
    open.delete(keyOf(session.organizationId, session.form))
    session.key.wipe()
  }

  const close = Effect.fnUntraced(function* (session: OpenSession) {
    evict(session)
    yield* closeOnline(context, { ...session, closes: 0 })
  })

  return {
    get: (organizationId, form) =>
      Effect.gen(function* () {
        const session = open.get(keyOf(organizationId, form))
        if (session === undefined) return yield* begin(organizationId, form)
        if (!isDue(session, yield* Clock.currentTimeMillis)) return session
        yield* close(session)
        return yield* begin(organizationId, form)
      }),
    seal: ({ key }, xml) => SealedDocument.seal(key, Buffer.from(xml)),
    abandon: (session, { isOver }) =>
      Effect.suspend(() => {
        evict(session)
        return isOver ? finish(context, session) : closeLater(context, session, 1, 0)
      }),
    closeDue: Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      for (const session of open.values()) if (isDue(session, now)) yield* close(session)
      return Math.min(Infinity, ...Array.from(open.values(), ({ usedAt }) => usedAt + LaneRules.session.idleMs))
    }),
    closeAll: Effect.suspend(() => Effect.ignore(Effect.forEach([...open.values()], close, { discard: true }))),
    count: () => open.size
  }
}

const finish = ({ lane, store }: LaneContext, { id }: { readonly id: string }) =>
  store.write(lane, { sessions: [{ id, state: "done", dueAt: null }] })

// The verdict step closes what is due. The verdicts themselves never wait for it.
const closeLater = (context: LaneContext, { id }: { readonly id: string }, closes: number, notBefore: number) =>
  Effect.gen(function* () {
    const dueAt = Math.max((yield* Clock.currentTimeMillis) + LaneRules.closeWait(closes), notBefore)
    context.hasUnfinishedSessions = true
    yield* context.store.write(context.lane, { sessions: [{ id, checkCount: closes, dueAt: new Date(dueAt) }] })
    context.wake("verdicts", dueAt)
  })

const isClosed = (error: LoginError): boolean => {
  const failure = failureOf(error, "closeOnline")
  if (failure?._tag === "code") return failure.action === "already-closed" || failure.action === "session-unreadable"
  // Nobody of this lane may close it.
  return failure?._tag === "not-readable"
}

/**
 * Closes an interactive session. Where KSeF does not answer that it is closed, or that there is none, it is closed again later, until
 * it ends by itself.
 */
export const closeOnline = (
  context: LaneContext,
  session: {
    readonly id: string
    readonly reference: string
    readonly organizationId: string
    readonly validUntil: number
    readonly closes: number
  }
): Effect.Effect<void, LaneLost | SqlError.SqlError> =>
  authorized(context, session.organizationId, "closeOnline", (accessToken) =>
    context.system.client.closeOnline({ accessToken, session: session.reference })
  ).pipe(
    Effect.matchEffect({
      onSuccess: () => finish(context, session),
      onFailure: (error) =>
        Effect.gen(function* () {
          if (error._tag === "LaneLost" || error._tag === "SqlError") return yield* Effect.fail(error)
          const now = yield* Clock.currentTimeMillis
          if (isClosed(error) || now >= session.validUntil) return yield* finish(context, session)
          yield* closeLater(context, session, session.closes + 1, stepFailure(context, error, now).until)
        })
    })
  )
