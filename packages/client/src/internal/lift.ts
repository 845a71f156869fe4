/**
 * Effects from functions that return promises.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import { type AnyGovoiceError, isGovoiceError } from "../error.ts"
import type { Signal } from "../fetch.ts"
import type { List, Page } from "../list.ts"
import type { CallOptions } from "../options.ts"

// Interruption replaces the signal.
type WithoutSignal<P extends ReadonlyArray<unknown>> = {
  [K in keyof P]: "signal" extends keyof NonNullable<P[K]>
    ? Omit<NonNullable<P[K]>, "signal"> | Extract<P[K], undefined>
    : P[K]
}

/** The Effect form of a function that returns a promise. */
export type Lifted<F> = F extends (...args: infer P) => Promise<infer A>
  ? (...args: WithoutSignal<P>) => Effect.Effect<A, AnyGovoiceError>
  : never

/** The Effect form of a function that returns a list: it succeeds with the page at `cursor`. */
export type LiftedList<F> = F extends (...args: infer P) => List<infer A>
  ? (...args: WithCursor<WithoutSignal<P>>) => Effect.Effect<Page<A>, AnyGovoiceError>
  : never

type WithCursor<P extends ReadonlyArray<unknown>> = {
  [K in keyof P]: "limit" extends keyof NonNullable<P[K]>
    ? (P[K] & { readonly cursor?: string | undefined }) | Extract<P[K], undefined>
    : P[K]
}

// A TypeError is a programming error.
const failOrDie = (error: unknown): Effect.Effect<never, AnyGovoiceError> =>
  isGovoiceError(error) ? Effect.fail(error) : Effect.die(error)

/** Lifts a function whose call options are the parameter at `position`. Interruption aborts the call. */
export const lift = <F>(operation: F, position: number): Lifted<F> =>
  ((...args: Array<unknown>) =>
    Effect.flatten(
      Effect.promise(async (signal: Signal) => {
        const given = [...args]
        given[position] = { ...(given[position] as CallOptions | undefined), signal }
        try {
          return Effect.succeed(await (operation as (...args: Array<unknown>) => Promise<unknown>)(...given))
        } catch (error) {
          // Handled here, so that an interruption leaves no unhandled rejection.
          return failOrDie(error)
        }
      })
    )) as Lifted<F>

/** Lifts a function that returns a list and whose filters are the parameter at `position`. */
export const liftList = <F>(list: F, position: number): LiftedList<F> =>
  lift(
    (...args: Array<unknown>) =>
      (list as (...args: Array<unknown>) => List<unknown>)(...args).page(
        (args[position] as { readonly cursor?: string }).cursor
      ),
    position
  ) as unknown as LiftedList<F>
