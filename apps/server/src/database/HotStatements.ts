/**
 * The statements that most requests and deliveries need. Each is executed once, with nothing to do, before a process is ready: a
 * table, a column or a privilege that is missing is found then, and not by the first request.
 */
import { Context, Effect, Layer } from "effect"

/** The statements of a process. */
export interface HotStatements {
  /** Adds a statement that writes nothing as it is. */
  readonly add: (name: string, statement: Effect.Effect<unknown, unknown>) => void
  /** Executes those that have not succeeded yet. */
  readonly check: Effect.Effect<void, unknown>
}

const make = (): HotStatements => {
  const unchecked = new Map<string, Effect.Effect<unknown, unknown>>()
  let logged = ""
  return {
    add: (name, statement) => void unchecked.set(name, statement),
    check: Effect.suspend(() =>
      Effect.forEach(
        [...unchecked],
        ([name, statement]) =>
          statement.pipe(
            Effect.tap(() => Effect.sync(() => unchecked.delete(name))),
            Effect.tapCause((cause) => {
              if (logged === name) return Effect.void
              logged = name
              return Effect.annotateLogs(Effect.logWarning("A statement that this process needs fails", cause), {
                name
              })
            })
          ),
        { discard: true }
      )
    )
  }
}

/** The statements of this process. Nothing is checked where none are provided. */
export const HotStatements = Context.Reference<HotStatements>("@govoice/server/database/HotStatements", {
  defaultValue: () => ({ add: () => {}, check: Effect.void })
})

/** Provides the statements of a process. */
export const layer: Layer.Layer<never> = Layer.sync(HotStatements)(make)
