/** Loading of what a command does: help and mistakes need none of it. */
import { Effect } from "effect"

/** Loads a module when a command runs, and runs the command with it. */
export const load = <Module, A, E, R>(
  module: () => Promise<Module>,
  run: (module: Module) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> => Effect.flatMap(Effect.promise(module), run)
