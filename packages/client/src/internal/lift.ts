/**
 * Makes Effects of functions that return promises.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type { CallOptions } from "../connection.ts"
import { type AnyGovoiceError, isGovoiceError } from "../error.ts"
import type { Signal } from "../fetch.ts"
import type { List, Page } from "../list.ts"

// Interruption is the signal.
type WithoutSignal<P extends ReadonlyArray<unknown>> = {
  [K in keyof P]: "signal" extends keyof NonNullable<P[K]>
    ? Omit<NonNullable<P[K]>, "signal"> | Extract<P[K], undefined>
    : P[K]
}

/** A function as it is in Effect. */
export type Lifted<F> = F extends (...args: infer P) => Promise<infer A>
  ? (...args: WithoutSignal<P>) => Effect.Effect<A, AnyGovoiceError>
  : never

/** A function that lists, as it is in Effect: it gives the page that begins at `cursor`. */
export type LiftedList<F> = F extends (...args: infer P) => List<infer A>
  ? (...args: WithCursor<WithoutSignal<P>>) => Effect.Effect<Page<A>, AnyGovoiceError>
  : never

type WithCursor<P extends ReadonlyArray<unknown>> = {
  [K in keyof P]: "limit" extends keyof NonNullable<P[K]>
    ? (P[K] & { readonly cursor?: string | undefined }) | Extract<P[K], undefined>
    : P[K]
}

// A TypeError is a mistake of the caller, and nothing that a program could go on from.
const refuse = (error: unknown): Effect.Effect<never, AnyGovoiceError> =>
  isGovoiceError(error) ? Effect.fail(error) : Effect.die(error)

/** Lifts a function whose bounds are its parameter at `position`. Interruption aborts it. */
export const lift = <F>(operation: F, position: number): Lifted<F> =>
  ((...args: Array<unknown>) =>
    Effect.flatten(
      Effect.promise(async (signal: Signal) => {
        const given = [...args]
        given[position] = { ...(given[position] as CallOptions | undefined), signal }
        try {
          return Effect.succeed(await (operation as (...args: Array<unknown>) => Promise<unknown>)(...given))
        } catch (error) {
          // Settled here, so that an interruption leaves no rejection behind.
          return refuse(error)
        }
      })
    )) as Lifted<F>

/** Lifts a list, of which the filters are the parameter at `position`: what was a list is one page of it. */
export const liftList = <F>(list: F, position: number): LiftedList<F> =>
  lift(
    (...args: Array<unknown>) =>
      (list as (...args: Array<unknown>) => List<unknown>)(...args).page(
        (args[position] as { readonly cursor?: string }).cursor
      ),
    position
  ) as unknown as LiftedList<F>
